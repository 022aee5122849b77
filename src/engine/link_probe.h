// How fast this job's link is, as a quick measurement before the plan is made.
#pragma once

#include <cstdint>
#include <string>

#include "launch/bootstrap.h"
#include "transport/transport.h"

namespace edgewire::engine {

/// Bytes per second of the slowest process while each sends to the next rank and receives from the one
/// before, over a transport of its own that ends with the call. `settings`: of the job; lanes and kinds are
/// not used. Collective; throws Error. Needs about 0.5 MiB and the time of
/// about 6 MiB on the link. `handshake_messages` grows by what connecting took.
double measure_link(launch::Bootstrap& bootstrap, const std::string& transport, transport::Settings settings,
                    std::uint64_t& handshake_messages);

/// The same over `link`, which is of one lane and one kind, and new: this exposes memory and connects it.
double measure_link(launch::Bootstrap& bootstrap, transport::Transport& link);

}  // namespace edgewire::engine
