// The time that something has taken. Every folder may include this header, as error.h.
#pragma once

#include <chrono>

namespace edgewire {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

inline double seconds_since(Clock::time_point start) { return seconds_between(start, Clock::now()); }

}  // namespace edgewire
