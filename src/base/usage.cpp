#include "base/usage.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

namespace edgewire {
namespace {

std::uint64_t parents_bytes = 0;

/// Returns a figure of /proc/self/status, or 0 where it cannot be read.
std::uint64_t status_bytes(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (std::uint64_t kibibytes = 0; word == name && status >> kibibytes) return kibibytes * 1024;
  return 0;
}

}  // namespace

void leave_out_parents_memory() { parents_bytes = status_bytes("VmRSS:"); }

std::uint64_t peak_memory_bytes() {
  // getrusage() would count what the process was before execve(), a large Python process for example.
  std::uint64_t peak = status_bytes("VmHWM:");
  if (peak == 0) peak = static_cast<std::uint64_t>(usage_of(RUSAGE_SELF).ru_maxrss) * 1024;
  return peak - std::min(peak, parents_bytes);
}

}  // namespace edgewire
