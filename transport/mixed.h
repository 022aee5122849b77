#pragma once

#include <memory>

#include "transport/transport.h"

namespace edgewire::transport {

/// Shared memory to the processes of this host and TCP to all others ("shm+tcp"), over one region. Bytes that
/// stay on the host are payload, but neither frame nor wire bytes.
std::unique_ptr<Transport> make_mixed(const Settings& settings);

}  // namespace edgewire::transport
