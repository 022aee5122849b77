// What the control groups above this process let it use of the machine. Linux: cgroup-v2.rst,
// cgroup-v1/memory.rst, scheduler/sched-bwc.rst.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace edgewire {

/// Where the kernel shows the control groups of a process, of version 1, 2 or both.
struct ControlGroups {
  std::string membership = "/proc/self/cgroup";
  std::string mounts = "/sys/fs/cgroup";  ///< the folder of all groups

  /// Bytes: the least limit of all groups above the process; 2^64 - 1 where nothing limits them.
  std::uint64_t memory_limit() const;
  /// Bytes that the groups leave free: the limit of each, less what is used and is not the page cache; the
  /// least of all groups. 2^64 - 1 where nothing limits them.
  std::uint64_t free_memory() const;
  /// How many processes of the nearest group the kernel has killed for want of memory, in the group or in the
  /// whole machine. None where it does not say.
  std::optional<std::uint64_t> memory_kills() const;
  /// The time that the group's threads may run, in seconds a second: 1.5 is that of one and a half CPUs. The
  /// least of all groups; 0 where nothing limits it.
  double cpu_quota() const;
};

/// Bytes of memory that the system has in all. NUMA nodes may know of less: a machine that was given memory
/// while it ran has not always told them. 0: the system does not say.
std::uint64_t installed_memory() noexcept;

/// The hardware threads that this thread may run on, within the quota of the groups: how many threads
/// that compute are worthwhile. At least 1.
int usable_threads();

/// Of so many cores those that are worthwhile with a quota (0: none): rounded down, at least 1.
int within_quota(int cores, double cpu_quota) noexcept;

}  // namespace edgewire
