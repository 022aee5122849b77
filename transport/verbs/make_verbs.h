// The verbs folder is the RDMA backend: writes go through a reliable connection of a network card straight
// into the peer's registered memory. library.* finds libibverbs, device.* chooses the card, setup.cpp
// connects, datapath.cpp writes and signals, failures.cpp puts what went wrong into words. Only this header
// is for others.
#pragma once

#include <memory>
#include <string>

#include "transport/transport.h"

namespace edgewire::transport {

/// Throws Error when no device can be used.
std::unique_ptr<Transport> make_verbs(const Settings& settings);

/// Why no RDMA device can be used here, and the remedy; empty when one can. Tries to open one and to register
/// memory with it.
std::string trouble_with_verbs();

}  // namespace edgewire::transport
