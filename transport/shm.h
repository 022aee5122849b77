#pragma once

#include <memory>

#include "transport/transport.h"

namespace edgewire::transport {

/// Shared memory among the processes of one host (see shm.cpp).
std::unique_ptr<Transport> make_shm(const Settings& settings);

}  // namespace edgewire::transport
