#include <arpa/inet.h>
#include <fmt/core.h>
#include <ifaddrs.h>

#include <array>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "options/jobs.h"
#include "transport/verbs/device.h"
#include "transport/verbs/make_verbs.h"

namespace edgewire::transport {
namespace {

using verbs::Device;

/// Returns the network ("10.8.0.0/24") of the interface of this process's network namespace that has the
/// address; empty when none has it.
std::string network_of(const in_addr& address) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(first, freeifaddrs);
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_netmask == nullptr || one->ifa_addr->sa_family != AF_INET)
      continue;
    in_addr here{}, mask{};
    std::memcpy(&here, &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, sizeof here);
    std::memcpy(&mask, &reinterpret_cast<const sockaddr_in*>(one->ifa_netmask)->sin_addr, sizeof mask);
    if (here.s_addr != address.s_addr) continue;
    const in_addr network{here.s_addr & mask.s_addr};
    char text[INET_ADDRSTRLEN];
    return fmt::format("{}/{}", inet_ntop(AF_INET, &network, text, sizeof text), std::popcount(mask.s_addr));
  }
  return {};
}

/// Returns the network of a device. Throws Error when it is not known.
std::string network_of(const Device& device) {
  if (!device.is_ethernet()) {
    std::string text = "InfiniBand:";
    for (std::size_t i = 0; i < 8; ++i) text += fmt::format("{:02x}", device.gid.raw[i]);
    return text;
  }
  in_addr address{};
  std::memcpy(&address, device.gid.raw + 12, sizeof address);
  std::string network = device.has_ipv4() ? network_of(address) : "";
  if (network.empty())
    throw Error(fmt::format("{} has no IPv4 address here ({} uses it all the same)", device.label(),
                            opt::transport("verbs")));
  return device.is_iwarp ? "iWARP:" + network : network;  // the two do not reach each other
}

/// Returns the rate of a port. InfiniBand Architecture Specification 1.4, 14.2.5.6 (PortInfo): the codes of
/// speed and width are single bits.
std::uint64_t bits_per_s_of(const ibv_port_attr& port) {
  constexpr std::array kLaneSpeeds{2.5e9, 5e9, 10e9, 10e9, 14e9, 25e9, 50e9, 100e9};
  constexpr std::array kLanes{1.0, 4.0, 8.0, 12.0, 2.0};
  const auto value_of = [](const auto& values, unsigned code, double other) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(code));
    return std::has_single_bit(code) && bit < values.size() ? values[bit] : other;
  };
  return static_cast<std::uint64_t>(value_of(kLaneSpeeds, port.active_speed, 1e9) *
                                    value_of(kLanes, port.active_width, 1));
}

}  // namespace

std::vector<Card> verbs_cards(const VerbsChoice& wanted, std::span<const std::string> addresses) {
  Settings settings;
  settings.verbs = wanted;
  std::vector<Device> devices;
  if (!wanted.device.empty()) {
    devices = verbs::open_devices(settings);
  } else if (addresses.empty()) {
    devices = verbs::open_all_devices(settings);
  } else {
    for (const std::string& address : addresses) {
      settings.address = address;
      for (Device& device : verbs::open_all_devices(settings))
        if (device.has_address(address)) devices.push_back(std::move(device));
    }
    if (devices.empty())
      throw Error(fmt::format("no RDMA device has an address that fits {}", opt::interface));
  }
  verbs::try_memory(devices[0], wanted.memory);
  std::vector<Card> cards;
  std::string trouble;
  for (const Device& device : devices) {
    try {
      cards.push_back({fmt::format("{}:{}:{}", device.name, device.port, device.gid_index),
                       network_of(device), device.node, bits_per_s_of(device.attributes)});
    } catch (const Error& error) {
      trouble = error.what();
    }
  }
  if (cards.empty()) throw Error(trouble);
  return cards;
}

}  // namespace edgewire::transport
