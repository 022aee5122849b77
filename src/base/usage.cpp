#include "base/usage.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace edgewire {
namespace {

std::uint64_t parents_bytes = 0;

}  // namespace

std::optional<std::uint64_t> proc_bytes(const char* file, std::string_view name) {
  std::ifstream lines(file);
  for (std::string word; lines >> word; lines.ignore(std::numeric_limits<std::streamsize>::max(), '\n'))
    if (std::uint64_t kibibytes = 0; word == name && lines >> kibibytes) return kibibytes * 1024;
  return std::nullopt;
}

void leave_out_parents_memory() { parents_bytes = proc_bytes("/proc/self/status", "VmRSS:").value_or(0); }

std::uint64_t peak_memory_bytes() {
  // getrusage() would count what the process was before execve(), a large Python process for example.
  std::uint64_t peak = proc_bytes("/proc/self/status", "VmHWM:").value_or(0);
  if (peak == 0) peak = static_cast<std::uint64_t>(usage_of(RUSAGE_SELF).ru_maxrss) * 1024;
  return peak - std::min(peak, parents_bytes);
}

}  // namespace edgewire
