// This file measures how fast this job's link is, quickly and before the plan is made.
#pragma once

#include "launch/bootstrap.h"
#include "transport/transport.h"

namespace edgewire::process {

/// Returns the bytes per second of the slowest process while each sends to the next rank and receives from
/// the one before. `link`: a new transport with one lane and one kind, whose memory it exposes, and which it
/// connects. Takes about 0.5 MiB of memory, and the time that the link needs for about 6 MiB; a link that
/// needs less than 50 ms for 4 MiB is measured again for as long. Collective; throws Error.
double measure_link(launch::Bootstrap& bootstrap, transport::Transport& link);

}  // namespace edgewire::process
