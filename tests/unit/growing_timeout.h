// Timeouts for tests of what happens when one expires.
#pragma once

#include <fmt/core.h>

#include <string>

namespace edgewire {

/// On a busy machine a short timeout expires for processes that live, too. Runs `attempt(timeout_s)` with
/// longer and longer timeouts until it returns true: until only the test has let the timeout expire. Returns
/// false when that never happened.
template <class Attempt>
bool with_growing_timeout(double first_s, Attempt attempt) {
  double timeout_s = first_s;
  while (!attempt(timeout_s))
    if ((timeout_s *= 5) > 30) return false;
  return true;
}

/// Returns whether these lines of a job accuse a process that lives of silence: every one but `victim` (-1:
/// all).
inline bool accuses_live(const std::string& text, int processes, int victim) {
  bool accused = text.find(" was stopped for ") != text.npos &&  // a process says so of itself
                 text.find(fmt::format("rank {}: was stopped for ", victim)) == text.npos;
  for (int p = 0; p < processes; ++p)
    if (p != victim && text.find(fmt::format("rank {} has been silent", p)) != text.npos) accused = true;
  return accused;
}

}  // namespace edgewire
