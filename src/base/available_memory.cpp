#include "base/available_memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/control_group.h"
#include "base/error.h"

namespace edgewire {

namespace {

std::uint64_t free_in_machine() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  while (file >> word) {
    std::uint64_t kibibytes = 0;
    if (word == "MemAvailable:" && file >> kibibytes) return kibibytes * 1024;
  }
  return std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

std::uint64_t available_memory() { return std::min(free_in_machine(), ControlGroups{}.free_memory()); }

void require_memory(const std::string& path, std::uint64_t bytes) {
  const std::uint64_t available = available_memory();
  if (bytes > available) {
    throw Error(fmt::format("{}: needs about {} MB of memory, {} MB are available", path, bytes / 1'000'000,
                            available / 1'000'000));
  }
}

}  // namespace edgewire
