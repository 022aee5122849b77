#include "base/control_group.h"

#include <fmt/core.h>
#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/usage.h"

namespace edgewire {
namespace {

using std::filesystem::path;

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

enum class Version { first, second };

/// The files of a control group that tell of memory, and the words of its memory.stat for the pages of files.
struct MemoryFiles {
  const char *limit, *used, *inactive, *active;
};

MemoryFiles memory_files(Version version) {
  if (version == Version::second) return {"memory.max", "memory.current", "inactive_file", "active_file"};
  return {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "total_active_file"};
}

std::uint64_t number_in(const path& name) {
  std::uint64_t value = kUnknown;
  std::ifstream file(name);
  return file >> value ? value : kUnknown;  // "max" is no number
}

/// Calls `visit` for each group of the process, and all above them, in which `controller` may set limits.
void for_groups(const ControlGroups& groups, const std::string& controller,
                const std::function<void(const path& group, Version version)>& visit) {
  std::ifstream file(groups.membership);
  for (std::string line; std::getline(file, line);) {  // NUMBER:CONTROLLERS:PATH
    std::istringstream fields(line);
    std::string number, controllers, group;
    std::getline(std::getline(std::getline(fields, number, ':'), controllers, ':'), group);
    const bool first_version = (',' + controllers + ',').find(',' + controller + ',') != std::string::npos;
    if (!first_version && !controllers.empty()) continue;
    path mount = groups.mounts;
    if (first_version) mount /= exists(mount / controller) ? controller : controllers;
    // A container may not see the folder of its group, except as the root.
    for (path at = path(group).relative_path();; at = at.parent_path()) {
      visit(mount / at, first_version ? Version::first : Version::second);
      if (at.empty()) break;
    }
  }
}

std::uint64_t free_in_group(const path& group, const MemoryFiles& files) {
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

std::optional<std::uint64_t> kills_in_group(const path& group, Version version) {
  std::ifstream file(group / (version == Version::second ? "memory.events" : "memory.oom_control"));
  std::string word;
  for (std::uint64_t count = 0; file >> word >> count;)
    if (word == "oom_kill") return count;
  return std::nullopt;
}

/// Returns a group's quota of each period, in periods; infinity where there is none.
double quota_of_group(const path& group, Version version) {
  double quota = 0, period = 0;
  if (version == Version::second) {
    std::ifstream file(group / "cpu.max");  // "max 100000" or "50000 100000"
    file >> quota >> period;
  } else {
    std::ifstream(group / "cpu.cfs_quota_us") >> quota;  // -1: none
    std::ifstream(group / "cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? quota / period : std::numeric_limits<double>::infinity();
}

std::uint64_t free_in_machine() { return proc_bytes("/proc/meminfo", "MemAvailable:").value_or(kUnknown); }

}  // namespace

std::uint64_t ControlGroups::memory_limit() const {
  std::uint64_t least = kUnknown;
  for_groups(*this, "memory", [&](const path& group, Version version) {
    least = std::min(least, number_in(group / memory_files(version).limit));
  });
  return least;
}

std::uint64_t ControlGroups::free_memory() const {
  std::uint64_t least = kUnknown;
  for_groups(*this, "memory", [&](const path& group, Version version) {
    least = std::min(least, free_in_group(group, memory_files(version)));
  });
  return least;
}

std::optional<std::uint64_t> ControlGroups::memory_kills() const {
  std::optional<std::uint64_t> nearest;
  for_groups(*this, "memory", [&](const path& group, Version version) {
    if (!nearest) nearest = kills_in_group(group, version);
  });
  return nearest;
}

double ControlGroups::cpu_quota() const {
  double least = std::numeric_limits<double>::infinity();
  for_groups(*this, "cpu", [&](const path& group, Version version) {
    least = std::min(least, quota_of_group(group, version));
  });
  return least == std::numeric_limits<double>::infinity() ? 0 : least;
}

std::uint64_t installed_memory() noexcept {
  struct sysinfo found {};
  return sysinfo(&found) == 0 ? std::uint64_t{found.totalram} * found.mem_unit : 0;
}

std::uint64_t available_memory() { return std::min(free_in_machine(), ControlGroups{}.free_memory()); }

void require_memory(const std::string& path, std::uint64_t bytes) {
  const std::uint64_t available = available_memory();
  if (bytes > available)
    throw Error(fmt::format("{}: needs about {} MB of memory, {} MB are available", path, bytes / 1'000'000,
                            available / 1'000'000));
}

int within_quota(int cores, double cpu_quota) noexcept {
  if (cpu_quota <= 0 || cpu_quota >= cores) return std::max(1, cores);
  return std::max(1, static_cast<int>(cpu_quota));
}

std::string allowed_cpus() {
  // The kernel refuses sets that are smaller than its own, which may be larger than cpu_set_t.
  constexpr std::size_t kMostCpus = 1 << 16;
  std::string set(CPU_ALLOC_SIZE(kMostCpus), '\0');
  if (sched_getaffinity(0, set.size(), reinterpret_cast<cpu_set_t*>(set.data())) != 0) return "";
  set.resize(set.find_last_not_of('\0') + 1);
  return set;
}

int usable_threads() {
  int threads = 0;
  for (const char byte : allowed_cpus()) threads += std::popcount(static_cast<unsigned char>(byte));
  if (threads == 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  return within_quota(threads, ControlGroups{}.cpu_quota());
}

}  // namespace edgewire
