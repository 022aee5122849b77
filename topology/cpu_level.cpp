#include "topology/cpu_level.h"

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "error.h"

namespace edgewire::topology {
namespace {

constexpr std::string_view kPrefix = "x86-64-";
constexpr std::array kNames{"generic", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

/// The highest level that this processor has, and the system saves the registers of.
CpuLevel highest() noexcept {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4") != 0) return CpuLevel::v4;
  if (__builtin_cpu_supports("x86-64-v3") != 0) return CpuLevel::v3;
  return CpuLevel::v2;
#else
  return CpuLevel::generic;
#endif
}

CpuLevel choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v2") == 0)
    throw Error("this processor is older than x86-64-v2, which this program was compiled for");
#endif
  const CpuLevel most = highest();
  const char* const text = std::getenv("EDGEWIRE_CPU");
  const std::string_view asked = text == nullptr ? "" : text;
  if (asked.empty()) return most;
  for (const CpuLevel level : {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4}) {
    if (std::string_view(name_of(level)).substr(kPrefix.size()) != asked) continue;
    if (level <= most) return level;
    throw UsageError(
        fmt::format("EDGEWIRE_CPU={}: this processor is of level {} (unset it, or name a lower level)", asked,
                    name_of(most)));
  }
  throw UsageError(
      fmt::format("EDGEWIRE_CPU={} is no level (v2, v3 and v4 are; unset it for the best)", asked));
}

}  // namespace

const char* name_of(CpuLevel level) noexcept { return kNames[static_cast<std::size_t>(level)]; }

CpuLevel cpu_level() {
  static const CpuLevel level = choose();
  return level;
}

}  // namespace edgewire::topology
