#include "graph/available_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "error.h"

namespace edgewire::graph {

namespace {

constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

std::uint64_t number_in(const char* path) {
  std::uint64_t value = kUnknown;
  std::ifstream file(path);
  return file >> value ? value : kUnknown;
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

std::uint64_t free_in_container() {
  const std::uint64_t limit = number_in("/sys/fs/cgroup/memory.max");  // "max" is no number: unknown
  const std::uint64_t used = number_in("/sys/fs/cgroup/memory.current");
  if (limit == kUnknown || used == kUnknown) return kUnknown;
  return limit - std::min(limit, used);
}

}  // namespace

void require_memory(const std::string& path, std::uint64_t bytes) {
  const std::uint64_t available = std::min(free_in_machine(), free_in_container());
  if (bytes > available) {
    throw Error(fmt::format("{}: needs about {} MB of memory, {} MB are available", path, bytes / 1'000'000,
                            available / 1'000'000));
  }
}

}  // namespace edgewire::graph
