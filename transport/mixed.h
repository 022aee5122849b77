#pragma once

#include <memory>
#include <string_view>

#include "transport/transport.h"

namespace edgewire::transport {

/// Shared memory to the processes of this host, and `network` (tcp, verbs) to all others, over one region;
/// named "shm+tcp" or alike. Bytes that stay on the host count as payload, but not as frame or wire bytes.
std::unique_ptr<Transport> make_mixed(const Settings& settings, std::string_view network);

}  // namespace edgewire::transport
