#pragma once

#include <memory>
#include <string>

#include "launch/bootstrap.h"
#include "topology/worker_pool.h"
#include "transport/transport.h"

namespace edgewire::exchange {

/// How a process takes part in a job whose workers talk through rings.
struct SeatOptions {
  int workers = 1;  ///< per process; the same in all
  std::string transport = "shm";
  double peer_timeout_s = 10;
  bool integrity = true;  ///< see transport::Settings
  transport::VerbsChoice verbs{};
  transport::DpdkChoice dpdk{};
};

/// A process's workers in their places, and its link with a lane for each of them; not connected.
class Seat {
 public:
  Seat(launch::Bootstrap& bootstrap, const SeatOptions& options);

  topology::WorkerPool& pool() noexcept { return *pool_; }
  transport::Transport& link() noexcept { return *link_; }
  bool oversubscribed() const noexcept { return pool_->placement().oversubscribed; }
  /// In words: host, cores, memory.
  const std::string& place() const noexcept { return place_; }

 private:
  std::unique_ptr<topology::WorkerPool> pool_;
  std::string place_;
  std::unique_ptr<transport::Transport> link_;
};

}  // namespace edgewire::exchange
