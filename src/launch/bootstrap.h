// The launch folder starts the processes of a job and lets them find each other: local forks, host lists,
// launchers that speak PMIx. The result is a Bootstrap, the control plane among all processes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "launch/interfaces.h"
#include "transport/health.h"

namespace edgewire::launch {

/// Control plane of one process of a job. All calls are collective and block; they throw Error when the job
/// has failed. Messages may have any size. While it lives, a thread of its own exchanges heartbeats, so that
/// a dead, stopped or cut-off peer fails `health()` within the peer timeout in every other process.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Result[p] is what process p gave.
  virtual std::vector<std::string> allgather(const std::string& mine) = 0;
  /// Process p gets `to[p]` of every process; result[p] is what process p gave to this one.
  virtual std::vector<std::string> alltoall(std::span<const std::string> to) = 0;
  /// As allgather, at rank 0 only; elsewhere empty.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;
  /// Tells all others that this process gives up because of `message`, then returns at once. They fail naming
  /// it.
  virtual void abort(const std::string& message) noexcept = 0;
  /// Collective end of the job: after it, a peer that goes away is no failure.
  virtual void finish() = 0;
  /// This process's failure state; lives as long as the Bootstrap.
  virtual transport::Health& health() = 0;
  /// 32 bytes, the same in every process of this run and unknown outside it.
  virtual const std::string& secret() const = 0;
  /// Rank among the processes that share this one's cores, and their number: all on this host, unless a
  /// launcher gave them cores of their own.
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  /// Processes p and q are on one host exactly when [p] == [q]. Empty: all are on one host.
  virtual const std::vector<int>& nodes() const = 0;
  /// Address of this process that the other hosts can reach; 127.0.0.1 when all are on one host.
  virtual const std::string& address() const = 0;
  /// The interfaces of this host that the user wants to be used, in the order that was given; empty: no wish.
  virtual const std::vector<Interface>& wanted_interfaces() const = 0;
  /// Messages of handshakes and collective calls that this process has sent; heartbeats are not counted.
  virtual std::uint64_t messages_sent() = 0;
};

/// A job of one process: nothing to wire up.
std::unique_ptr<Bootstrap> alone();

}  // namespace edgewire::launch
