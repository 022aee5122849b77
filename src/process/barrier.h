// Processes of a job wait for each other on the control plane while their link makes progress.
#pragma once

#include <chrono>
#include <thread>

#include "launch/bootstrap.h"
#include "topology/worker_pool.h"
#include "transport/transport.h"

namespace edgewire::process {

/// Polls `link`, which outlives it, so that queued writes leave and arrivals are taken. Waiting on the
/// control plane alone would not do that, and a peer may need the data before it can go on.
class LinkProgress {
 public:
  explicit LinkProgress(transport::Transport& link)
      : thread_([&link](const std::stop_token& stop) {
          constexpr std::chrono::microseconds kTurn(50);  // longest wait for the last process
          while (!stop.stop_requested() && link.wait(kTurn)) continue;
        }) {}

 private:
  std::jthread thread_;
};

/// Returns when all processes have called it, with LinkProgress meanwhile. Throws Error when the job fails.
inline void barrier(launch::Bootstrap& bootstrap, transport::Transport& link) {
  if (bootstrap.size() == 1) return;
  const LinkProgress progress(link);
  bootstrap.allgather("");
}

/// A guard that lets an observer of the pool count worker 0 as waiting for what other processes say on the
/// control plane. The other workers rest. `pool` outlives it.
class WaitTold {
 public:
  explicit WaitTold(const topology::WorkerPool& pool) noexcept : observer_(pool.observer()) {
    if (observer_ != nullptr) observer_->enter(0, topology::Phase::wait, 0, -1);
  }
  ~WaitTold() {
    if (observer_ != nullptr) observer_->enter(0, topology::Phase::compute, 0, -1);
  }
  WaitTold(const WaitTold&) = delete;
  WaitTold& operator=(const WaitTold&) = delete;

 private:
  topology::Observer* observer_;
};

}  // namespace edgewire::process
