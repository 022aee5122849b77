#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launch/bootstrap.h"
#include "topology/machine.h"
#include "topology/worker_pool.h"
#include "transport/transport.h"

namespace edgewire::exchange {

/// How a process takes part in a job whose workers talk through rings.
struct SeatOptions {
  int workers = 1;  ///< per process; the same in all
  std::string transport = "shm";
  std::string transport_reason{};  ///< why this one was chosen, for the report; empty: it was named
  double peer_timeout_s = 10;
  bool integrity = true;  ///< see transport::Settings
  transport::VerbsChoice verbs{};
  transport::DpdkChoice dpdk{};
  /// Told, at rank 0, why the workers of a host are not pinned, when other jobs are the cause.
  std::function<void(const std::string& line)> warn{};
};

/// Throws UsageError that names the option that makes no sense. A Seat and find_place() begin with it.
void check(const SeatOptions& options);

/// Where a process stands among those of its host, which share cores and network cards.
struct HostPlace {
  std::unique_ptr<topology::WorkerPool> pool;  ///< on cores that no other job has
  std::string address;                         ///< of this process, for other hosts: that of its card
  std::vector<int> process_nodes;              ///< NUMA nodes of the processes of this host
  int process_index = 0;                       ///< of this one there
  std::vector<int> memory_nodes;               ///< of the workers of this one (os_index), each once
  int poll_cpu = -1;                           ///< see transport::DpdkChoice
  std::string text;                            ///< in words: host, cores, memory
};
/// Starts the workers. Collective.
HostPlace find_place(launch::Bootstrap& bootstrap, const topology::Machine& machine,
                     const SeatOptions& options);
/// The settings of a link with a lane for each worker and so many kinds of signals, see transport::Settings.
transport::Settings link_settings(launch::Bootstrap& bootstrap, const HostPlace& place,
                                  const SeatOptions& options, int kinds);

/// A process's workers in their places, and its link with a lane for each of them; not connected.
class Seat {
 public:
  /// Collective; throws Error.
  Seat(launch::Bootstrap& bootstrap, const SeatOptions& options);
  /// For a process of one worker, the calling thread, which stays where it is. `alone`: as launch::alone()
  /// gives it.
  explicit Seat(launch::Bootstrap& alone);

  topology::WorkerPool& pool() noexcept { return *pool_; }
  transport::Transport& link() noexcept { return *link_; }
  const transport::Transport& link() const noexcept { return *link_; }
  bool oversubscribed() const noexcept { return pool_->placement().oversubscribed; }
  /// In words: host, cores, memory.
  const std::string& place() const noexcept { return place_; }
  /// As exchange::measure_link(), over another link that is like this one. Collective; throws Error.
  double measure_link(launch::Bootstrap& bootstrap) const;

 private:
  std::unique_ptr<topology::WorkerPool> pool_;
  std::string place_;
  std::string transport_ = "shm";
  transport::Settings settings_;
  std::unique_ptr<transport::Transport> link_;
};

}  // namespace edgewire::exchange
