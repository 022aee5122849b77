// How a long run tells of its progress.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#pragma GCC visibility push(default)

namespace edgewire {

/// Says how far one step of a long run has come. Its texts are literals.
struct Step {
  const char* name = nullptr;  ///< what is under way, such as "reading"; null: nothing is any more
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0: nobody knows beforehand
  const char* unit = "";    ///< of `done` and `total`, such as "iterations"; in "bytes" they are shown as MB
  /// Says more of it in words. Whoever shows the step calls this, if at all, before the call that told of it
  /// returns.
  std::function<std::string()> details{};
};

/// A function that is told how far a run has come, by any thread and at any rate. It is empty where nobody
/// looks.
using Progress = std::function<void(const Step& step)>;

}  // namespace edgewire

#pragma GCC visibility pop
