// Where all processes of a job wait for each other while their link works on.
#pragma once

#include <string>
#include <vector>

#include "launch/wire_up.h"
#include "transport/transport.h"

namespace edgewire::engine {

/// Returns when all processes have called it: [p] is what process p gave. Throws Error when the job fails
/// first. What `link` has queued leaves meanwhile, which the control plane alone would not see to: a peer may
/// wait for it before it comes here.
std::vector<std::string> meet(launch::WireUp& wire, transport::Transport& link, const std::string& mine = {});

}  // namespace edgewire::engine
