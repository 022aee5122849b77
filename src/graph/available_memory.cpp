#include "graph/available_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "error.h"

namespace edgewire::graph {

namespace {

using std::filesystem::path;

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

/// The files of a control group, and the words of its memory.stat for the pages of files.
struct GroupFiles {
  const char *limit, *used, *inactive, *active;
};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                                  "total_active_file"};
constexpr GroupFiles kVersion2 = {"memory.max", "memory.current", "inactive_file", "active_file"};

std::uint64_t number_in(const path& name) {
  std::uint64_t value = kUnknown;
  std::ifstream file(name);
  return file >> value ? value : kUnknown;  // "max" is no number
}

std::uint64_t free_in_machine() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    std::uint64_t kibibytes = 0;
    if (word == "MemAvailable:" && file >> kibibytes) return kibibytes * 1024;
  }
  return kUnknown;
}

std::uint64_t free_in_group(const path& group, const GroupFiles& files) {
  const std::uint64_t limit = number_in(group / files.limit);
  const std::uint64_t used = number_in(group / files.used);
  if (limit == kUnknown || used == kUnknown) return kUnknown;
  std::uint64_t cached = 0;
  std::ifstream statistics(group / "memory.stat");
  std::string word;
  for (std::uint64_t bytes = 0; statistics >> word >> bytes;)
    if (word == files.inactive || word == files.active) cached += bytes;
  return limit - std::min(limit, used - std::min(used, cached));
}

}  // namespace

std::uint64_t free_in_groups(const std::string& membership, const std::string& mounts) {
  std::uint64_t least = kUnknown;
  std::ifstream file(membership);
  for (std::string line; std::getline(file, line);) {  // NUMBER:CONTROLLERS:PATH
    std::istringstream fields(line);
    std::string number, controllers, group;
    std::getline(std::getline(std::getline(fields, number, ':'), controllers, ':'), group);
    const bool first_version = (',' + controllers + ',').find(",memory,") != std::string::npos;
    if (!first_version && !controllers.empty()) continue;
    const path mount = first_version ? path(mounts) / "memory" : path(mounts);
    // A container may not see the folder of its group, but as the root.
    for (path at = path(group).relative_path();; at = at.parent_path()) {
      least = std::min(least, free_in_group(mount / at, first_version ? kVersion1 : kVersion2));
      if (at.empty()) break;
    }
  }
  return least;
}

std::uint64_t available_memory() {
  return std::min(free_in_machine(), free_in_groups("/proc/self/cgroup", "/sys/fs/cgroup"));
}

void require_memory(const std::string& path, std::uint64_t bytes) {
  const std::uint64_t available = available_memory();
  if (bytes > available) {
    throw Error(fmt::format("{}: needs about {} MB of memory, {} MB are available", path, bytes / 1'000'000,
                            available / 1'000'000));
  }
}

}  // namespace edgewire::graph
