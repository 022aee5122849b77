#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/transport.h"
#include "transport/verbs/library.h"
#include "transport/verbs/memory.h"

namespace edgewire::transport::verbs {

/// An open device and the port and address that a job uses.
struct Device {
  Owned<ibv_context> context;
  std::string name;
  ibv_device_attr limits{};
  std::uint8_t port = 1;
  ibv_port_attr attributes{};  ///< attributes of the port
  std::uint8_t gid_index = 0;
  ibv_gid gid{};
  int node = -1;  ///< NUMA node (operating-system number) of the device, -1: unknown

  bool can_page = false;  ///< whether it pages on demand what reliable connections write, send and receive
  std::string kind{};     ///< kind: "InfiniBand", "RoCE v1", "RoCE v2", "iWARP"
  bool is_iwarp = false;  ///< whether it is iWARP; `gid` then is an IP address of its interface

  bool is_ethernet() const noexcept { return attributes.link_layer == IBV_LINK_LAYER_ETHERNET; }
  bool has_ipv4() const noexcept;
  bool has_address(const std::string& address) const noexcept;
  /// Returns a text for messages, as "mlx5_0 port 1".
  std::string label() const;
};

/// Returns whether the address is one of IPv4, written as an IPv6 address (RFC 4291, 2.5.5.2).
bool is_ipv4(const ibv_gid& gid);

/// Opens what settings.verbs.device names (NAME[:PORT[:GID_INDEX]], several divided by commas), else one
/// device: that which has settings.address, else one near to the node of this process, cards being shared
/// among settings.process_nodes. Among a port's addresses, it prefers RoCE v2 with IPv4. Throws Error that
/// says why nothing fits, and the remedy.
std::vector<Device> open_devices(const Settings& settings);

/// Describes all devices that could be used, in words.
std::string list_devices();

/// Returns all devices that this host could use, with the first port of each that is active, in the order of
/// the system; those with settings.address where it names one. Throws Error that says why there is none.
std::vector<Device> open_all_devices(const Settings& settings);

/// Memory that a card may read, and write to.
struct Registered {
  Owned<ibv_mr> region{nullptr, nullptr};
  Registration way = Registration::pinned;
};

/// Makes a protection domain. Throws Error.
Owned<ibv_pd> make_domain(const Device& device);

/// The access flags of memory that peers may write to.
inline constexpr unsigned kWritable = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
inline constexpr unsigned kReadable = IBV_ACCESS_REMOTE_READ;

/// Registers memory as `wanted` (VerbsChoice::memory); `access`: what peers may do (enum ibv_access_flags).
/// Throws Error that names the limit.
Registered register_memory(const Device& device, ibv_pd& pd, void* data, std::size_t bytes, unsigned access,
                           const std::string& wanted);

/// Registers memory for a moment. Throws the same errors as register_memory().
void try_memory(const Device& device, const std::string& wanted);

}  // namespace edgewire::transport::verbs
