#include "transport/verbs/device.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "options/jobs.h"
#include "topology/machine.h"
#include "topology/placement.h"
#include "transport/verbs/cm.h"

namespace edgewire::transport::verbs {
namespace {

/// The device that --verbs-device names; -1 and empty: any.
struct Wish {
  std::string name;
  int port = -1;
  int gid_index = -1;
};

UsageError wrong_device(const std::string& text) {
  return UsageError(fmt::format("{} must be NAME[:PORT[:GID_INDEX]], and is '{}'", opt::verbs_device, text));
}

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
    if (error != std::errc{} || at != last || value < least || value > 255) throw wrong_device(text);
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

bool is_address(const ibv_gid& gid, const std::string& address) {
  in6_addr parsed{};
  const std::string text = address.find(':') == std::string::npos ? "::ffff:" + address : address;
  return inet_pton(AF_INET6, text.c_str(), &parsed) == 1 &&
         std::memcmp(&parsed, gid.raw, sizeof gid.raw) == 0;
}

/// Returns how well an entry of the address table suits; 0: not at all.
int fitness(const ibv_gid_entry& entry, const std::string& address) {
  if (entry.gid_type == IBV_GID_TYPE_IB) return 1;
  if (is_address(entry.gid, address)) return entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? 5 : 2;
  if (entry.gid_type == IBV_GID_TYPE_ROCE_V1) return 1;
  return is_ipv4(entry.gid) ? 4 : 3;
}

const char* kind_of(const ibv_gid_entry& entry) {
  return entry.gid_type == IBV_GID_TYPE_IB        ? "InfiniBand"
         : entry.gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2"
                                                  : "RoCE v1";
}

/// Returns whether a card pages on demand all that this backend does.
bool can_page_on_demand(ibv_context& context) {
  verbs_context* calls = verbs_get_ctx_op(&context, query_device_ex);
  ibv_device_attr_ex found{};
  if (calls == nullptr || calls->query_device_ex(&context, nullptr, &found, sizeof found) != 0) return false;
  constexpr std::uint32_t kNeeded =
      IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV;
  return (found.odp_caps.general_caps & IBV_ODP_SUPPORT) != 0 &&
         (found.odp_caps.per_transport_caps.rc_odp_caps & kNeeded) == kNeeded;
}

constexpr int kHasAddress = 5;  // fitness of an address by which the job knows this process

/// Returns why the system has no device at all.
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
  /// Looks at all devices of this host.
  explicit Search(const Settings& settings, const Wish& wish = {}) : settings_(settings), wish_(wish) {
    int count = 0;
    ibv_device** list = library().get_device_list(&count);
    if (list == nullptr) throw Error(why_none());
    const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> owner(list, library().free_device_list);
    for (int i = 0; i < count; ++i) look_at(list[i]);
  }

  /// Returns the devices that suit equally well, without iWARP cards where there are others: they do not mix.
  std::vector<Device> all() {
    if (best_.empty()) refuse();
    if (!std::ranges::all_of(best_, &Device::is_iwarp))
      std::erase_if(best_, [](const Device& device) { return device.is_iwarp; });
    return std::move(best_);
  }

  const std::vector<Device>& mixture() const { return best_; }

  /// Returns the one of these devices that is for this process.
  Device nearest() {
    auto best = all();
    std::vector<int> nodes;
    for (const Device& device : best) nodes.push_back(device.node);
    const bool known = !settings_.process_nodes.empty();
    const auto processes = known ? settings_.process_nodes : std::vector{node_of_this_thread()};
    const auto cards = topology::share_cards(nodes, processes);
    const auto mine = static_cast<std::size_t>(known ? settings_.process_index : 0);
    return std::move(best[cards[mine]]);
  }

 private:
  void look_at(ibv_device* listed) {
    const Library& verbs = library();
    const std::string name = verbs.get_device_name(listed);
    known_ += (known_.empty() ? "" : ", ") + name;
    if (!wish_.name.empty() && name != wish_.name) return;
    Device device{{verbs.open_device(listed), verbs.close_device}, name};
    if (device.context == nullptr) {
      trouble_ = fmt::format("cannot open {}: {} (may this user write to /dev/infiniband/uverbs*?)", name,
                             std::strerror(errno));
      return;
    }
    if (verbs.query_device(device.context.get(), &device.limits) != 0) return;
    device.node = topology::node_of_card(name);
    device.can_page = can_page_on_demand(*device.context);
    device.is_iwarp = listed->transport_type == IBV_TRANSPORT_IWARP;
    const auto gids = addresses_of(device);
    for (std::uint8_t port = 1; port <= device.limits.phys_port_cnt; ++port) {
      if (wish_.port < 0 || wish_.port == port) look_at_port(device, port, gids);
      if (device.context == nullptr) return;  // it was taken as a device
    }
  }

  [[noreturn]] void refuse() const {
    if (!no_manager_.empty()) throw Error(no_manager_);
    if (!trouble_.empty()) throw Error(trouble_);
    if (known_.empty()) throw Error(why_none());
    throw Error(fmt::format("there is no RDMA device '{}' (known: {})", wish_.name, known_));
  }

  std::vector<ibv_gid_entry> addresses_of(const Device& device) {
    if (device.is_iwarp) {
      try {
        return cm_addresses(device.name);
      } catch (const Error& error) {
        no_manager_ = fmt::format("{}: {}", device.name, error.what());
        return {};
      }
    }
    std::vector<ibv_gid_entry> gids(1024);
    const auto found =
        library().query_gid_table(device.context.get(), gids.data(), gids.size(), 0, sizeof gids[0]);
    gids.resize(static_cast<std::size_t>(std::max<ssize_t>(found, 0)));
    return gids;
  }

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
      device.kind = device.is_iwarp ? "iWARP" : kind_of(entry);
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
  const Wish wish_;
  bool have_address_ = false;  ///< whether the devices in best_ have the address
  std::vector<Device> best_;
  std::string trouble_;
  std::string no_manager_;  ///< reason why an iWARP card cannot be connected
  std::string known_;
};

}  // namespace

bool is_ipv4(const ibv_gid& gid) {
  constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::memcmp(gid.raw, kPrefix, sizeof kPrefix) == 0;
}

bool Device::has_ipv4() const noexcept { return is_ipv4(gid); }
bool Device::has_address(const std::string& address) const noexcept { return is_address(gid, address); }

std::string Device::label() const { return fmt::format("{} port {}", name, port); }

std::vector<Device> open_devices(const Settings& settings) {
  std::vector<Device> opened;
  const std::string& names = settings.verbs.device;
  for (std::size_t begin = 0; begin <= names.size();) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    const Wish wish = parse_wish(names.substr(begin, end - begin));
    if (wish.name.empty() && !names.empty()) throw wrong_device(names);
    begin = end + 1;
    opened.push_back(Search(settings, wish).nearest());
    const std::string label = opened.back().label();
    if (std::ranges::count(opened, label, &Device::label) > 1)
      throw UsageError(fmt::format("{} names {} twice", opt::verbs_device, label));
  }
  return opened;
}

std::string list_devices() {
  const Settings settings;
  const Search search(settings);
  std::string text;
  for (const Device& device : search.mixture())
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", device.label(), device.kind);
  return text;
}

std::vector<Device> open_all_devices(const Settings& settings) { return Search(settings).all(); }

}  // namespace edgewire::transport::verbs
