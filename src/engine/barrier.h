// Where processes of a job wait for each other on the control plane while their link works on.
#pragma once

#include <thread>

#include "launch/bootstrap.h"
#include "transport/transport.h"

namespace edgewire::engine {

/// While it lives, what `link` has queued leaves, and what arrives is taken: the control plane alone would
/// not see to that, and a peer may need it before it can go on. `link` outlives it.
class LinkProgress {
 public:
  explicit LinkProgress(transport::Transport& link);

 private:
  std::jthread thread_;
};

/// Returns when all processes have called it, with LinkProgress meanwhile; throws Error when the job fails
/// first.
void barrier(launch::Bootstrap& bootstrap, transport::Transport& link);

}  // namespace edgewire::engine
