// This file says what the control groups above this process let it use of the machine. Linux: cgroup-v2.rst,
// cgroup-v1/memory.rst, scheduler/sched-bwc.rst.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace edgewire {

/// The files in which the kernel shows the control groups of a process, of version 1, 2 or both.
struct ControlGroups {
  std::string membership = "/proc/self/cgroup";
  std::string mounts = "/sys/fs/cgroup";  ///< the folder of all groups

  /// Returns the least limit of all groups above the process, in bytes; 2^64 - 1 where nothing limits them.
  std::uint64_t memory_limit() const;
  /// Returns how many bytes the groups leave free. This is the limit of each, less what is used and is not
  /// the page cache; the least of all groups counts. Returns 2^64 - 1 where nothing limits them.
  std::uint64_t free_memory() const;
  /// Returns how many processes of the nearest group the kernel has killed for want of memory, in the group
  /// or in the whole machine. Returns nothing where the kernel does not say.
  std::optional<std::uint64_t> memory_kills() const;
  /// Returns the CPU time that the group's threads may use, in seconds a second: 1.5 is that of one and a
  /// half CPUs. It is the least of all groups; 0 where nothing limits it.
  double cpu_quota() const;
};

/// Returns how many bytes of memory the system has in all, or 0 where it does not say. NUMA nodes may know of
/// less: a machine that was given memory while it ran has not always told them.
std::uint64_t installed_memory() noexcept;

/// Returns how many bytes the machine and the groups have free; 2^64 - 1 where that is not known.
std::uint64_t available_memory();

/// Throws Error ("PATH: needs about N MB of memory, M MB are available") when less than `bytes` is free. Does
/// nothing where that is not known.
void require_memory(const std::string& path, std::uint64_t bytes);

/// Returns the set of hardware threads of this thread, to be compared; empty where the kernel does not say.
std::string allowed_cpus();

/// Returns how many threads that compute are worthwhile: the hardware threads that this thread may run on,
/// within the quota of the groups. The number is at least 1.
int usable_threads();

/// Returns how many of `cores` are worthwhile with a quota (0: none), rounded down; 1 at least.
int within_quota(int cores, double cpu_quota) noexcept;

}  // namespace edgewire
