// The time, and how long something has taken. Every folder may include this header, as error.h.
#pragma once

#include <chrono>
#include <cstdint>

namespace edgewire {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

/// Returns the time of the same clock, CLOCK_MONOTONIC, which all processes of a host share.
inline std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

inline double seconds_since(Clock::time_point start) { return seconds_between(start, Clock::now()); }

}  // namespace edgewire
