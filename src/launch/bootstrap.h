// The launch folder starts the processes of a job and lets them find each other: by local forks, host lists,
// or launchers that speak PMIx. The result is a Bootstrap, which is the control plane among all processes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "launch/interfaces.h"
#include "transport/health.h"

namespace edgewire::launch {

/// The control plane of one process of a job. All calls are collective and block. They throw Error when the
/// job has failed. Messages may have any size. A thread exchanges heartbeats as long as this object lives. If
/// a peer dies, stops or is cut off, `health()` of every other process fails within the peer timeout.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Result[p] is what process p has passed.
  virtual std::vector<std::string> allgather(const std::string& mine) = 0;
  /// Sends to[p] to process p. Result[p] is what process p has sent to this one.
  virtual std::vector<std::string> alltoall(std::span<const std::string> to) = 0;
  /// As allgather(), but only rank 0 gets the result; elsewhere it is empty.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;
  /// Tells all others that this process gives up, and why; returns at once. They fail with a message that
  /// names this process.
  virtual void abort(const std::string& message) noexcept = 0;
  /// Ends the job, collectively. After it, a peer that goes away is no failure.
  virtual void finish() = 0;
  /// This process's failure state; lives as long as the Bootstrap.
  virtual transport::Health& health() = 0;
  /// 32 bytes, the same in every process of this run and unknown outside it.
  virtual const std::string& secret() const = 0;
  /// Rank of this process among those that share its cores, and their number. These are all processes on this
  /// host, unless a launcher has given each of them different cores.
  virtual int local_rank() const = 0;
  virtual int local_size() const = 0;
  /// The rank in the job of the first of these: the process whose local_rank() is 0.
  virtual int local_leader() const = 0;
  /// Processes p and q are on one host exactly when [p] == [q]. Empty: all are on one host.
  virtual const std::vector<int>& nodes() const = 0;
  /// An address of this process that other hosts can reach; 127.0.0.1 when all are on one host.
  virtual const std::string& address() const = 0;
  /// The interfaces of this host that the user wants to be used, in the given order; empty: any.
  virtual const std::vector<Interface>& wanted_interfaces() const = 0;
  /// Messages of handshakes and collective calls that this process has sent; heartbeats are not counted.
  virtual std::uint64_t messages_sent() = 0;
};

/// The bootstrap of a job of one process. There is nothing to connect.
std::unique_ptr<Bootstrap> alone();

}  // namespace edgewire::launch
