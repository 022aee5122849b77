#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.h"

namespace edgewire::transport {

/// Wraps a transport so that it does, more often than it would itself, all that the contract allows and
/// careless callers forget: queues are full, doorbells and signals are late, polls bring nothing, waits end
/// early. What a lane meets depends on `seed`, the lane and the number of its calls alone, so that a failure
/// can be replayed.
std::unique_ptr<Transport> with_faults(std::unique_ptr<Transport> inner, const Settings& settings,
                                       std::uint64_t seed);

}  // namespace edgewire::transport
