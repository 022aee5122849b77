// Lists of ownerships, as --ownership of `bound` and `compare` has them. "{}" in the name of a partition file
// stands for the number of processes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace edgewire::perf {

/// The path of a partition file for so many processes. Other ownerships stay as they are.
std::string partition_path(const std::string& ownership, int processes);

/// Throws UsageError where one of them is no name of an ownership and no file, see
/// partition::check_ownership_name(), or is "auto" and may not be.
void check_ownerships(std::span<const std::string> ownerships, std::span<const int> processes,
                      bool may_be_auto);

/// Reads all partition files among them. Throws Error where one cannot be read, or does not fit a graph of so
/// many vertices or the processes.
void check_partition_files(std::span<const std::string> ownerships, std::span<const int> processes,
                           std::uint64_t vertices);

}  // namespace edgewire::perf
