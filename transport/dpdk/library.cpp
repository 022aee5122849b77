#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "error.h"
#include "transport/dpdk/frame_port.h"

namespace edgewire::transport::dpdk {
namespace {

constexpr std::uint64_t kRawSockets = 1ULL << 13;  ///< CAP_NET_RAW, capabilities(7)

std::uint64_t capabilities() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("CapEff:")) return std::stoull(line.substr(7), nullptr, 16);
  return 0;
}

/// Whether this user may open a group of devices that are bound to vfio-pci.
bool may_use_a_card() {
  std::error_code error;
  for (const auto& group : std::filesystem::directory_iterator("/dev/vfio", error))
    if (group.path().filename() != "vfio" && access(group.path().c_str(), R_OK | W_OK) == 0) return true;
  return false;
}

}  // namespace

OpenPort load_plugin() {
  static void* const handle = dlopen(kPluginName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const said = dlerror();
    const std::string cause = said == nullptr ? "" : said;
    if (cause.find("librte_") != cause.npos)
      throw Error(fmt::format("DPDK 22.11 is not installed (apt-get install dpdk): {}", cause));
    throw Error(fmt::format("{} is not where the program looks for it: {}", kPluginName, cause));
  }
  const auto found = reinterpret_cast<OpenPort>(dlsym(handle, kOpenPort));
  if (found == nullptr) throw Error(fmt::format("{} has no {}", kPluginName, kOpenPort));
  return found;
}

std::string trouble_with_plugin() {
  try {
    load_plugin();
  } catch (const Error& error) {
    return error.what();
  }
  if ((capabilities() & kRawSockets) == 0 && !may_use_a_card())
    return "no permission: virtual devices need root or CAP_NET_RAW, cards a group in /dev/vfio that this "
           "user may open "
           "(dpdk-devbind.py -b vfio-pci ADDRESS; chown USER /dev/vfio/GROUP)";
  return {};
}

}  // namespace edgewire::transport::dpdk
