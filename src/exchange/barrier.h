// Processes of a job wait for each other on the control plane while their link makes progress.
#pragma once

#include <thread>

#include "launch/bootstrap.h"
#include "transport/transport.h"

namespace edgewire::exchange {

/// Polls `link` as long as this object lives, so that queued writes leave and arrivals are taken. Waiting on
/// the control plane alone would not do that, and a peer may need the data before it can go on. `link`
/// outlives it.
class LinkProgress {
 public:
  explicit LinkProgress(transport::Transport& link);

 private:
  std::jthread thread_;
};

/// Returns when all processes have called it. Uses LinkProgress meanwhile. Throws Error when the job fails
/// before.
void barrier(launch::Bootstrap& bootstrap, transport::Transport& link);

}  // namespace edgewire::exchange
