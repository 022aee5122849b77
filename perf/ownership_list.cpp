#include "perf/ownership_list.h"

#include "base/error.h"
#include "partition/ownership.h"

namespace edgewire::perf {

std::string partition_path(const std::string& ownership, int processes) {
  std::string path = ownership;
  if (const auto hole = path.find("{}"); hole != std::string::npos)
    path.replace(hole, 2, std::to_string(processes));
  return path;
}

void check_ownerships(std::span<const std::string> ownerships, std::span<const int> processes,
                      bool may_be_auto) {
  const std::span all(partition::kOwnershipNames);
  const auto offered = may_be_auto ? all : all.first(all.size() - 1);
  for (const std::string& one : ownerships) {
    if (one == "auto" && !may_be_auto)
      throw UsageError("--ownership auto: each one is counted: name them, as in hash,ranges");
    for (const int p : processes) partition::check_ownership_name(partition_path(one, p), offered);
  }
}

void check_partition_files(std::span<const std::string> ownerships, std::span<const int> processes,
                           std::uint64_t vertices) {
  for (const int p : processes)
    for (const std::string& one : ownerships)
      if (const auto path = partition::partition_file(partition_path(one, p)); !path.empty())
        partition::Ownership::from_file(path, vertices, p);
}

}  // namespace edgewire::perf
