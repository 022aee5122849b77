// This file says what options of C++ callers may be. Every folder may include this header, as it may include
// error.h.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <type_traits>

#include "base/error.h"

namespace edgewire {

/// Throws UsageError that names the option, its value and the range, unless least <= value <= most. NaN is in
/// no range.
template <class T>
void check_range(std::string_view name, T value, std::type_identity_t<T> least,
                 std::type_identity_t<T> most) {
  if (value >= least && value <= most) return;
  throw UsageError(fmt::format("{}: {} is not from {} to {}", name, value, least, most));
}

inline constexpr int kMaxWorkers = 1 << 14;  ///< of a process: far more than any machine has cores
/// The bounds of time limits for waiting, in seconds. Shorter ones are over before a message can come.
inline constexpr double kLeastTimeoutS = 0.001, kMostTimeoutS = 1e6;

}  // namespace edgewire
