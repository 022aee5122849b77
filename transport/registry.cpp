#include <fmt/core.h>

#include <array>

#include "base/error.h"
#include "options/jobs.h"
#include "topology/shell.h"
#include "transport/shm.h"
#include "transport/tcp.h"
#include "transport/transport.h"
#ifdef EDGEWIRE_DPDK
#include "transport/dpdk/dpdk.h"
#endif
#ifdef EDGEWIRE_VERBS
#include "transport/verbs/make_verbs.h"
#endif

namespace edgewire::transport {
namespace {

struct Entry {
  std::string_view name;
  std::string_view description;
  /// Returns why the backend is not usable here; empty when it is. It waits until somebody needs the backend.
  std::string (*trouble)();
  /// Returns what this machine has for the backend. Null: there is nothing to say.
  std::string (*found_here)();
  std::unique_ptr<Transport> (*make)(const Settings&);
};

template <class Backend>
std::unique_ptr<Transport> make(const Settings& settings) {
  return std::make_unique<Backend>(settings);
}

std::string no_trouble() { return {}; }

constexpr std::string_view kVerbs = "RDMA writes (InfiniBand, RoCE, iWARP)";
constexpr std::string_view kDpdk = "Ethernet frames straight from user space";
#ifdef EDGEWIRE_VERBS
constexpr Entry kVerbsEntry{"verbs", kVerbs, trouble_with_verbs, verbs_devices_here, make_verbs};
#else
std::string no_verbs() {
  return "this build has no verbs backend (apt-get install libibverbs-dev librdmacm-dev, then build anew)";
}
constexpr Entry kVerbsEntry{"verbs", kVerbs, no_verbs, nullptr, nullptr};
#endif
#ifdef EDGEWIRE_DPDK
constexpr Entry kDpdkEntry{"dpdk", kDpdk, dpdk::trouble_with_plugin, dpdk::ports_here, make<dpdk::Dpdk>};
#else
std::string no_dpdk() {
  return "this build has no dpdk backend (apt-get install libdpdk-dev, then build anew)";
}
constexpr Entry kDpdkEntry{"dpdk", kDpdk, no_dpdk, nullptr, nullptr};
#endif

constexpr std::array kEntries{
    Entry{"shm", "shared memory among processes of one host", no_trouble, nullptr, make_shm},
    Entry{"tcp", "TCP sockets, inside a host and between hosts", no_trouble, nullptr, make<Tcp>}, kVerbsEntry,
    kDpdkEntry};

/// Throws Error unless enough files can be open for each lane to each peer, and for rank 0's streams to all.
void require_connections(const Settings& settings) {
  constexpr std::uint64_t kOthers = 24;
  const auto size = static_cast<std::uint64_t>(settings.size),
             lanes = static_cast<std::uint64_t>(settings.lanes);
  std::uint64_t peers = 0;
  for (int peer = 0; peer < settings.size; ++peer) peers += settings.leaves_out(peer) ? 0 : 1;
  topology::require_open_files(kOthers + size + peers * lanes, ", or ask for fewer workers");
}

}  // namespace

DpdkChoice DpdkChoice::of(int local_rank) const {
  const auto pick = [&](const std::string& list) {
    std::size_t begin = 0;
    for (int i = 0; i < local_rank && list.find(';', begin) != list.npos; ++i)
      begin = list.find(';', begin) + 1;
    return list.substr(begin, list.find(';', begin) - begin);
  };
  DpdkChoice one = *this;
  one.port = pick(port);
  one.udp = pick(udp);
  return one;
}

std::vector<Backend> backends() {
  std::vector<Backend> all;
  for (const Entry& entry : kEntries) {
    std::string trouble = entry.trouble();
    const bool usable = trouble.empty();
    std::string description(entry.description);
    if (usable && entry.found_here != nullptr) description += fmt::format(" ({})", entry.found_here());
    all.push_back({std::string(entry.name), std::move(description), usable, std::move(trouble)});
  }
  return all;
}

std::unique_ptr<Transport> create(std::string_view name, const Settings& settings) {
  if (name.ends_with("verbs")) {
    check_range(opt::verbs_traffic_class, settings.verbs.traffic_class);
    check_word(opt::verbs_memory, settings.verbs.memory);
  }
  if (name == "shm+tcp" || name == "shm+verbs") return make_mixed(settings, name.substr(4));
  std::string known;
  for (const Entry& entry : kEntries) {
    if (entry.name != name) {
      known += (known.empty() ? "" : ", ") + std::string(entry.name);
      continue;
    }
    if (entry.make == nullptr) throw Error(fmt::format("transport {}: {}", name, entry.trouble()));
    if (name == "tcp") require_connections(settings);
    try {
      return entry.make(settings);
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      throw Error(fmt::format("transport {}: {}", name, error.what()));
    }
  }
  throw Error(fmt::format("there is no transport '{}' (known: {})", name, known));
}

}  // namespace edgewire::transport
