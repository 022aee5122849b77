// This file says how memory is registered. It includes no header of the library, so that tests run anywhere.
#pragma once

#include <string_view>
#include <vector>

namespace edgewire::transport::verbs {

/// The ways to register memory. Pinned pages stay where they are. With on-demand paging the card asks for
/// pages when it meets them: slower at first touch, but nothing counts against `ulimit -l`.
enum class Registration { pinned, on_demand };

/// Returns the ways to register memory that are to be tried, in order, for what VerbsChoice::memory wants and
/// a card that can page on demand, or cannot. Returns none if the card cannot do what is wanted.
inline std::vector<Registration> ways_to_register(std::string_view wanted, bool can_page) {
  std::vector<Registration> ways;
  if (wanted != "on-demand") ways.push_back(Registration::pinned);
  if (wanted != "pinned" && can_page) ways.push_back(Registration::on_demand);
  return ways;
}

}  // namespace edgewire::transport::verbs
