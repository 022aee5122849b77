#pragma once

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edgewire::runs {

/// Tells lists of numbers apart in a few words.
template <class T>
std::string digest(const std::vector<T>& numbers) {
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
  return fmt::format("{} {:016x}", numbers.size(), std::hash<std::string_view>()(bytes));
}

/// How searches share workers, in a word: see BfsOptions::apart.
inline const char* how(std::optional<bool> apart) noexcept {
  return !apart ? "auto" : *apart ? "sources" : "levels";
}

}  // namespace edgewire::runs
