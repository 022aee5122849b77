// This file says how much memory and CPU time a process has used.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace edgewire {

/// Returns what getrusage() says. `who` is RUSAGE_SELF or another of its constants.
inline rusage usage_of(int who) {
  rusage used{};
  getrusage(who, &used);
  return used;
}

/// Returns the CPU time that was used for the program, and by the system for it.
inline double cpu_seconds(const rusage& used) {
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

/// Returns the CPU time that all threads of this process have used so far.
inline double process_cpu_seconds() { return cpu_seconds(usage_of(RUSAGE_SELF)); }

/// Returns a figure of a file in /proc that has one a line, in KiB behind its name; none where it is not
/// there.
std::optional<std::uint64_t> proc_bytes(const char* file, std::string_view name);

/// Returns the most memory that this process has had resident so far, in bytes. A forked process does not
/// count what it had from its parent.
std::uint64_t peak_memory_bytes();

/// Says that this process was just forked: peak_memory_bytes() does not count what is resident now.
void leave_out_parents_memory();

}  // namespace edgewire
