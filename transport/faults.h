#pragma once

#include <cstdint>
#include <memory>

#include "transport/transport.h"

namespace edgewire::transport {

/// For tests: wraps a transport so that rare but allowed events occur often. Queues are full, doorbells and
/// signals are late, polls bring nothing, waits end early. What happens to a call depends only on `seed`, the
/// lane and the number of the lane's calls so far, so a failure can be replayed.
std::unique_ptr<Transport> with_faults(std::unique_ptr<Transport> inner, const Settings& settings,
                                       std::uint64_t seed);

}  // namespace edgewire::transport
