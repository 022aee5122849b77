// The process folder has what a process needs to be one among others: its workers in their places and its
// link (this file), barriers, the highest values of all, and what a signal that ends the run says.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launch/bootstrap.h"
#include "topology/machine.h"
#include "topology/worker_pool.h"
#include "transport/transport.h"

namespace edgewire::process {

/// The options of one process in a job: how many workers it has, and by which link it is connected.
struct ProcessOptions {
  int workers = 1;  ///< number of workers, the same in all processes; settle() takes 0, too
  /// The transport, the same in all; settle() takes "auto", too.
  std::string transport = "shm";
  std::string transport_reason{};  ///< reason of the choice, for the report; empty: the transport was named
  double peer_timeout_s = 10;      ///< time after which a silent peer is given up
  bool integrity = true;           ///< whether to check all that arrives, see transport::Settings
  transport::VerbsChoice verbs{};
  transport::DpdkChoice dpdk{};
  /// Called at rank 0 to say why the workers of a host are not pinned, when other jobs are the cause.
  std::function<void(const std::string& line)> warn{};
};

/// Throws UsageError that names the option that makes no sense. A LocalProcess begins with this check.
void check(const ProcessOptions& options);

/// Returns how many kinds of signals rings need: for the bytes sent and for the bytes drained.
constexpr int kinds_for_rings(int lanes) { return 2 * lanes; }

/// The start of every job: a process's workers are in their places, and its link has a lane for each of them.
/// The link is not connected yet. Processes of a host share its cores and its network cards.
class LocalProcess {
 public:
  /// Makes a process and starts its workers. `kinds`: see transport::Settings. Collective; throws Error.
  LocalProcess(launch::Bootstrap& bootstrap, const ProcessOptions& options, int kinds,
               const topology::Machine& machine = topology::discover());
  /// Makes a link for rings, which have their own kinds.
  LocalProcess(launch::Bootstrap& bootstrap, const ProcessOptions& options);
  /// Makes a process of one worker: the calling thread, where it is. `alone`: result of launch::alone().
  explicit LocalProcess(launch::Bootstrap& alone);

  topology::WorkerPool& pool() noexcept { return *pool_; }
  const topology::WorkerPool& pool() const noexcept { return *pool_; }
  transport::Transport& link() noexcept { return *link_; }
  const transport::Transport& link() const noexcept { return *link_; }
  /// Returns a link like link(), for rings on the same lanes, not connected. The process outlives it.
  std::unique_ptr<transport::Transport> ring_link() const;
  bool oversubscribed() const noexcept { return pool_->placement().oversubscribed; }
  /// Describes the place in words: host, cores, memory.
  const std::string& place() const noexcept { return place_; }
  /// Returns the bytes per second of another link like this one. Collective; throws Error.
  double measure_link(launch::Bootstrap& bootstrap);
  /// Returns how many messages were sent to connect link() and the links that were measured.
  std::uint64_t handshake_messages() const {
    return handshake_messages_ + link_->counters().handshake_messages;
  }

 private:
  std::unique_ptr<topology::WorkerPool> pool_;
  std::string place_;
  std::string transport_ = "shm";
  transport::Settings settings_;  ///< settings of the link
  std::unique_ptr<transport::Transport> link_;
  std::uint64_t handshake_messages_ = 0;
};

/// Returns the bytes per second of the slowest process while each sends to the next rank and receives from
/// the one before. `link`: a new transport with one lane and one kind, whose memory it exposes, and which it
/// connects. Takes about 0.5 MiB of memory, and the time that the link needs for about 6 MiB; a link that
/// needs less than 50 ms for 4 MiB is measured again for as long. Collective; throws Error.
double measure_link(launch::Bootstrap& bootstrap, transport::Transport& link);

}  // namespace edgewire::process
