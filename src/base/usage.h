// The base folder has small things that any room may use: medians, the mixing of bits, sets of bits, the
// memory and the time of cores that a process has used, and how a long run tells of its progress.
#pragma once

#include <sys/resource.h>

#include <cstdint>

namespace edgewire {

/// `who`: RUSAGE_SELF or another constant of getrusage().
inline rusage usage_of(int who) {
  rusage used{};
  getrusage(who, &used);
  return used;
}

/// The time of cores that was used for the program, and by the system for it.
inline double cpu_seconds(const rusage& used) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// The time of cores that all threads of this process have used so far.
inline double process_cpu_seconds() { return cpu_seconds(usage_of(RUSAGE_SELF)); }

/// The most memory that this process has had so far, in bytes.
inline std::uint64_t peak_memory_bytes() {
  return static_cast<std::uint64_t>(usage_of(RUSAGE_SELF).ru_maxrss) * 1024;
}

}  // namespace edgewire
