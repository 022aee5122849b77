// The time, and how long something has taken. Every folder may include this header, as error.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace edgewire {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

/// Returns the time of the same clock, CLOCK_MONOTONIC, which all processes of a host share.
inline std::uint64_t now_ns() noexcept {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count());
}

/// Returns the nanoseconds of any clock of clock_gettime(2), such as CLOCK_THREAD_CPUTIME_ID; 0 where it does
/// not exist.
inline std::uint64_t clock_ns(clockid_t clock) noexcept {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

inline double seconds_since(Clock::time_point start) { return seconds_between(start, Clock::now()); }

}  // namespace edgewire
