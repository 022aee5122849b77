#include "edgewire/detail/cpu_level.h"
#include "base/rooms.h"

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace edgewire::detail {
namespace {

constexpr std::string_view kPrefix = "x86-64-";
constexpr std::array kNames{"generic", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

#if defined(__x86_64__)
/// Returns whether the processor has the level, and the system saves its registers.
bool has(CpuLevel level) noexcept {
// Clang has no names of levels; no processor has these instructions without the others.
#if defined(__clang__)
  if (level == CpuLevel::v4)
    return __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  if (level == CpuLevel::v3)
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi2") != 0;
  return __builtin_cpu_supports("sse4.2") != 0;
#else
  if (level == CpuLevel::v4) return __builtin_cpu_supports("x86-64-v4") != 0;
  if (level == CpuLevel::v3) return __builtin_cpu_supports("x86-64-v3") != 0;
  return __builtin_cpu_supports("x86-64-v2") != 0;
#endif
}
#endif

/// Returns the highest level that this processor has. Throws Error.
CpuLevel highest() {
#if defined(__x86_64__)
  for (const CpuLevel level : {CpuLevel::v4, CpuLevel::v3, CpuLevel::v2})
    if (has(level)) return level;
  throw Error("this processor is older than x86-64-v2, which this program was compiled for");
#else
  return CpuLevel::generic;
#endif
}

CpuLevel choose() {
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
      fmt::format("EDGEWIRE_CPU={} is no level; name v2, v3 or v4, or unset it for the best one", asked));
}

}  // namespace

const char* name_of(CpuLevel level) noexcept { return kNames[static_cast<std::size_t>(level)]; }

CpuLevel cpu_level() {
  static const CpuLevel level = choose();
  return level;
}

}  // namespace edgewire::detail
