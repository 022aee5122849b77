#pragma once

#include <memory>
#include <string>

#include "transport/transport.h"

namespace edgewire::transport {

/// Reliable writes in Ethernet frames over the DPDK port that settings.dpdk_port names. Throws Error.
std::unique_ptr<Transport> make_dpdk(const Settings& settings);

/// What an operator should know of this machine, when a port might be used.
std::string dpdk_ports_here();

/// Why no port can be used here, and the remedy; empty when one might. Starts nothing.
std::string trouble_with_dpdk();

}  // namespace edgewire::transport
