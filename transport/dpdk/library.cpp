#include <dlfcn.h>
#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "transport/dpdk/frame_port.h"

namespace edgewire::transport::dpdk {
namespace {

constexpr std::uint64_t kRawSockets = 1ULL << 13;  ///< bit of CAP_NET_RAW, capabilities(7)

std::uint64_t capabilities() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("CapEff:")) return std::stoull(line.substr(7), nullptr, 16);
  return 0;
}

/// Returns whether this user may open a group of devices that are bound to vfio-pci.
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
  if (found == nullptr) throw Error(fmt::format("{} has no function {}", kPluginName, kOpenPort));
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

std::string ports_here() {
  std::size_t cards = 0;
  for (const char* driver : {"vfio-pci", "uio_pci_generic", "igb_uio"}) {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/sys/bus/pci/drivers/{}", driver), error))
      if (entry.path().filename().string().find(':') != std::string::npos) ++cards;
  }
  const std::uint64_t huge_bytes = free_huge_bytes();
  return fmt::format("{}; {}",
                     cards > 0 ? fmt::format("{} devices are bound for DPDK", cards)
                               : "no card is bound for DPDK (dpdk-devbind.py -b vfio-pci ADDRESS)",
                     huge_bytes > 0
                         ? fmt::format("{} MiB of huge pages are free", huge_bytes >> 20)
                         : "no huge pages are free (cards need them: dpdk-hugepages.py --setup 512M)");
}

}  // namespace edgewire::transport::dpdk
