#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "transport/dpdk/frame_port.h"

namespace edgewire::transport::dpdk {

/// Thrown and caught in the plug-in alone.
struct Trouble : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Whether this names a card, and not a virtual device.
bool is_pci(const std::string& port);
/// Throws Trouble when the card at a PCI address cannot be used.
void check_card(const std::string& address);
/// Starts DPDK's environment, once in a process, for frames of this size. Throws Trouble.
void start_environment(const PortOptions& options, std::uint32_t frame_bytes);
/// The first thing that DPDK has complained of since the last call; empty when it has not.
std::string take_complaint();

}  // namespace edgewire::transport::dpdk
