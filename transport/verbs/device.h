#pragma once

#include <cstdint>
#include <string>

#include "transport/transport.h"
#include "transport/verbs/library.h"

namespace edgewire::transport::verbs {

/// An open device and the port and address that a job uses.
struct Device {
  Owned<ibv_context> context;
  std::string name;
  ibv_device_attr limits{};
  std::uint8_t port = 1;
  ibv_port_attr attributes{};  ///< of the port
  std::uint8_t gid_index = 0;
  ibv_gid gid{};
  int node = -1;  ///< NUMA node (operating-system number) of the device, -1: unknown

  bool is_ethernet() const noexcept { return attributes.link_layer == IBV_LINK_LAYER_ETHERNET; }
  /// "mlx5_0 port 1", for messages.
  std::string label() const;
};

/// Opens what settings.verbs.device names (NAME[:PORT[:GID_INDEX]]), else the device that has
/// settings.address, else one near to the node of this process, cards being shared among
/// settings.process_nodes. Of a port's addresses, RoCE v2 with IPv4 is preferred. Throws Error that says why
/// nothing fits, and the remedy.
Device open_device(const Settings& settings);

/// Registers memory, of which peers may write when `remote`. Throws Error that names the limit.
Owned<ibv_mr> register_memory(const Device& device, ibv_pd& pd, void* data, std::size_t bytes, bool remote);

}  // namespace edgewire::transport::verbs
