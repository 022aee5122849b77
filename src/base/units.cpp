#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace edgewire {

namespace {

/// Returns the value in one of these units, each of which is `step` times the one before. What is too large
/// for the last one has all its digits.
std::string in_units(double value, std::span<const char* const> units, double step) {
  std::size_t unit = 0;
  for (; value >= step && unit + 1 < units.size(); ++unit) value /= step;
  constexpr double kFourDigits = 9999.5;
  return value < kFourDigits ? fmt::format("{:.4g}{}", value, units[unit])
                             : fmt::format("{:.0f}{}", value, units[unit]);
}

}  // namespace

std::string readable_bytes(std::uint64_t bytes) {
  static constexpr std::array kUnits{" B", " kB", " MB", " GB", " TB"};
  return in_units(static_cast<double>(bytes), kUnits, 1000);
}

std::string readable_memory(std::uint64_t bytes) {
  static constexpr std::array kUnits{" B", " KiB", " MiB", " GiB", " TiB"};
  return in_units(static_cast<double>(bytes), kUnits, 1024);
}

std::string readable_seconds(double seconds) {
  static constexpr std::array kUnits{" ns", " us", " ms", " s"};
  constexpr double kNanoseconds = 1e9;
  return seconds == 0 ? "0 s" : in_units(seconds * kNanoseconds, kUnits, 1000);
}

std::string readable_count(double count) {
  static constexpr std::array kUnits{"", " k", " M", " G", " T"};
  return in_units(count, kUnits, 1000);
}

std::string list_of(const std::vector<std::string>& names, const char* last) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i)
    list += (i == 0 ? "" : i + 1 == names.size() ? last : ", ") + names[i];
  return list;
}

}  // namespace edgewire
