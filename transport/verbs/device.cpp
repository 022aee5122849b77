#include "transport/verbs/device.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "error.h"
#include "topology/machine.h"
#include "topology/placement.h"

namespace edgewire::transport::verbs {
namespace {

/// What --verbs-device names; -1 and empty: any.
struct Wish {
  std::string name;
  int port = -1;
  int gid_index = -1;
};

Wish parse_wish(const std::string& text) {
  Wish wish;
  const std::size_t first = text.find(':');
  wish.name = text.substr(0, first);
  if (first == std::string::npos) return wish;
  const std::size_t second = text.find(':', first + 1);
  const auto number = [&](std::size_t begin, std::size_t end, int least) {
    int value = -1;
    const char* last = text.data() + std::min(end, text.size());
    const auto [at, error] = std::from_chars(text.data() + begin, last, value);
    if (error != std::errc{} || at != last || value < least || value > 255)
      throw UsageError(fmt::format("--verbs-device is NAME[:PORT[:GID_INDEX]], not '{}'", text));
    return value;
  };
  wish.port = number(first + 1, second, 1);
  if (second != std::string::npos) wish.gid_index = number(second + 1, text.size(), 0);
  return wish;
}

int node_of_this_thread() {
  unsigned cpu = 0, node = 0;
  return getcpu(&cpu, &node) == 0 ? static_cast<int>(node) : -1;
}

/// Of IPv4 written as an IPv6 address (RFC 4291, 2.5.5.2).
bool is_ipv4(const ibv_gid& gid) {
  constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::memcmp(gid.raw, kPrefix, sizeof kPrefix) == 0;
}

bool is_address(const ibv_gid& gid, const std::string& address) {
  in6_addr parsed{};
  const std::string text = address.find(':') == std::string::npos ? "::ffff:" + address : address;
  return inet_pton(AF_INET6, text.c_str(), &parsed) == 1 &&
         std::memcmp(&parsed, gid.raw, sizeof gid.raw) == 0;
}

/// How well an entry of the address table suits; 0: not at all.
int fitness(const ibv_gid_entry& entry, const std::string& address) {
  if (entry.gid_type == IBV_GID_TYPE_IB) return 1;
  if (is_address(entry.gid, address)) return entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? 5 : 2;
  if (entry.gid_type == IBV_GID_TYPE_ROCE_V1) return 1;
  return is_ipv4(entry.gid) ? 4 : 3;
}

constexpr int kHasAddress = 5;  // fitness of an address that the job knows this process by

/// What keeps a system from having a device at all.
std::string why_none() {
  constexpr const char* kDevices = "/sys/class/infiniband";
  std::error_code none;
  if (!std::filesystem::exists(kDevices, none))
    return "no RDMA device: the kernel's RDMA modules are not loaded (modprobe ib_uverbs and the card's "
           "driver; "
           "for Soft-RoCE: modprobe rdma_rxe; rdma link add rxe0 type rxe netdev eth0)";
  if (std::filesystem::is_empty(kDevices, none))
    return "no RDMA device (for a card: load its driver; for Soft-RoCE: rdma link add rxe0 type rxe netdev "
           "eth0)";
  if (!std::filesystem::exists("/dev/infiniband", none))
    return "RDMA devices cannot be used: modprobe ib_uverbs";
  return "the RDMA device has no provider (apt-get install ibverbs-providers)";
}

class Search {
 public:
  Search(const Settings& settings, const Wish& wish) : settings_(settings), wish_(wish) {}

  void look_at(ibv_device* listed) {
    const Library& verbs = library();
    const std::string name = verbs.get_device_name(listed);
    known_ += (known_.empty() ? "" : ", ") + name;
    if (!wish_.name.empty() && name != wish_.name) return;
    if (listed->transport_type == IBV_TRANSPORT_IWARP) {
      trouble_ =
          fmt::format("{} is an iWARP card, which has no writes with immediate; use --transport tcp", name);
      return;
    }
    Device device{{verbs.open_device(listed), verbs.close_device}, name};
    if (device.context == nullptr) {
      trouble_ = fmt::format("cannot open {}: {} (may this user write to /dev/infiniband/uverbs*?)", name,
                             std::strerror(errno));
      return;
    }
    if (verbs.query_device(device.context.get(), &device.limits) != 0) return;
    device.node = topology::node_of_card(name);
    std::vector<ibv_gid_entry> gids(1024);
    const auto found =
        verbs.query_gid_table(device.context.get(), gids.data(), gids.size(), 0, sizeof gids[0]);
    gids.resize(static_cast<std::size_t>(std::max<ssize_t>(found, 0)));
    for (std::uint8_t port = 1; port <= device.limits.phys_port_cnt; ++port) {
      if (wish_.port < 0 || wish_.port == port) look_at_port(device, port, gids);
      if (device.context == nullptr) return;  // taken
    }
  }

  Device result() {
    if (!best_.empty()) {
      std::vector<int> nodes;
      for (const Device& device : best_) nodes.push_back(device.node);
      const auto processes =
          settings_.process_nodes.empty() ? std::vector{node_of_this_thread()} : settings_.process_nodes;
      const auto cards = topology::share_cards(nodes, processes);
      return std::move(
          best_[static_cast<std::size_t>(cards[static_cast<std::size_t>(settings_.process_index)])]);
    }
    if (!trouble_.empty()) throw Error(trouble_);
    if (known_.empty()) throw Error(why_none());
    throw Error(fmt::format("there is no RDMA device '{}' (known: {})", settings_.verbs.device, known_));
  }

 private:
  void look_at_port(Device& device, std::uint8_t port, const std::vector<ibv_gid_entry>& gids) {
    device.port = port;
    // The library's function fills what all versions know of the structure.
    if (library().query_port(device.context.get(), port,
                             reinterpret_cast<_compat_ibv_port_attr*>(&device.attributes)) != 0)
      return;
    if (device.attributes.state != IBV_PORT_ACTIVE) {
      trouble_ = fmt::format("{} is down (is its cable in? ip link set dev ... up)", device.label());
      return;
    }
    int fit = 0;
    for (const ibv_gid_entry& entry : gids) {
      if (entry.port_num != port) continue;
      const bool wished = wish_.gid_index == static_cast<int>(entry.gid_index);
      const int here = wished ? kHasAddress : fitness(entry, settings_.address);
      if ((wish_.gid_index >= 0 && !wished) || here <= fit || entry.gid_index > 255) continue;
      fit = here;
      device.gid_index = static_cast<std::uint8_t>(entry.gid_index);
      device.gid = entry.gid;
    }
    if (fit == 0) {
      trouble_ = wish_.gid_index >= 0
                     ? fmt::format("{} has no GID {}", device.label(), wish_.gid_index)
                     : fmt::format("{} has no address (ip addr add ... dev ...)", device.label());
      return;
    }
    const bool has_address = fit == kHasAddress;
    if (has_address < have_address_) return;
    if (has_address > have_address_) best_.clear();
    have_address_ = has_address;
    best_.push_back(std::move(device));
  }

  const Settings& settings_;
  const Wish& wish_;
  bool have_address_ = false;  ///< those in best_
  std::vector<Device> best_;
  std::string trouble_;
  std::string known_;
};

}  // namespace

std::string Device::label() const { return fmt::format("{} port {}", name, port); }

Device open_device(const Settings& settings) {
  const Library& verbs = library();
  const Wish wish = parse_wish(settings.verbs.device);
  int count = 0;
  ibv_device** list = verbs.get_device_list(&count);
  if (list == nullptr) throw Error(why_none());
  const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> owner(list, verbs.free_device_list);
  Search search(settings, wish);
  for (int i = 0; i < count; ++i) search.look_at(list[i]);
  return search.result();
}

Owned<ibv_mr> register_memory(const Device& device, ibv_pd& pd, void* data, std::size_t bytes, bool remote) {
  // Relaxed ordering lets a card place writes in any order before the completion of the signal behind them,
  // which is all that we rely on. The library drops the flag where the card has no use for it.
  const unsigned access = remote
                              ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_RELAXED_ORDERING
                              : static_cast<unsigned>(IBV_ACCESS_RELAXED_ORDERING);
  Owned<ibv_mr> made(library().reg_mr_iova2(&pd, data, bytes, reinterpret_cast<std::uintptr_t>(data), access),
                     library().dereg_mr);
  if (made != nullptr) return made;
  const int cause = errno;
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY || (cause != ENOMEM && cause != EPERM))
    throw Error(
        fmt::format("cannot register {} bytes with {}: {}", bytes, device.name, std::strerror(cause)));
  throw Error(
      fmt::format("cannot register {} bytes with {}: `ulimit -l` allows {} KiB of locked memory (set memlock "
                  "unlimited in /etc/security/limits.conf, or LimitMEMLOCK=infinity of a service)",
                  bytes, device.name, limit.rlim_cur / 1024));
}

}  // namespace edgewire::transport::verbs
