// How much memory a large build may take.
#pragma once

#include <cstdint>
#include <string>

namespace edgewire::graph {

/// Bytes that the machine and the container have free; 2^64 - 1 where that is not known.
std::uint64_t available_memory();

/// Throws Error ("PATH: needs N MB of memory, M MB are available") when the machine or the container has less
/// than `bytes` free. Says nothing where that is not known.
void require_memory(const std::string& path, std::uint64_t bytes);

/// The bytes that the control groups of a process leave free: the limit of each, less what is used and is not
/// the page cache; the least of all groups. The largest number where nothing limits them. `membership` is the
/// process's file /proc/PID/cgroup, `mounts` the folder of all groups (Linux: cgroup-v1/memory.rst,
/// cgroup-v2.rst).
std::uint64_t free_in_groups(const std::string& membership, const std::string& mounts);

}  // namespace edgewire::graph
