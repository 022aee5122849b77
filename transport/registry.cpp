#include <fmt/core.h>

#include "error.h"
#include "transport/mixed.h"
#include "transport/shm.h"
#include "transport/tcp.h"
#include "transport/transport.h"

namespace edgewire::transport {
namespace {

struct Entry {
  Backend backend;
  std::unique_ptr<Transport> (*make)(const Settings&);
};

template <class Backend>
std::unique_ptr<Transport> make(const Settings& settings) {
  return std::make_unique<Backend>(settings);
}

std::vector<Entry> entries() {
  return {
      {{"shm", "shared memory among processes of one host", true, ""}, make_shm},
      {{"tcp", "TCP sockets, inside a host and between hosts", true, ""}, make<Tcp>},
      {{"verbs", "RDMA writes with immediate (InfiniBand, RoCE)", false, "this build has no verbs backend"},
       nullptr},
      {{"dpdk", "Ethernet frames straight from user space", false, "this build has no dpdk backend"},
       nullptr},
  };
}

}  // namespace

std::vector<Backend> backends() {
  std::vector<Backend> all;
  for (Entry& entry : entries()) all.push_back(std::move(entry.backend));
  return all;
}

std::unique_ptr<Transport> create(std::string_view name, const Settings& settings) {
  if (name == "shm+tcp") return make_mixed(settings);
  std::string known;
  for (const Entry& entry : entries()) {
    if (entry.backend.name != name) {
      known += (known.empty() ? "" : ", ") + entry.backend.name;
      continue;
    }
    if (!entry.backend.usable) throw Error(fmt::format("transport {}: {}", name, entry.backend.reason));
    return entry.make(settings);
  }
  throw Error(fmt::format("there is no transport '{}' (known: {})", name, known));
}

}  // namespace edgewire::transport
