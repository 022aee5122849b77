// The launch folder starts the processes of a job and lets them find each other: by local forks, host lists,
// or launchers that speak PMIx. The result is a Bootstrap, which is the control plane among all processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "launch/interfaces.h"
#include "transport/file_descriptor.h"
#include "transport/health.h"

namespace edgewire::launch {

/// The facts that identify a process among the others of its job.
struct Member {
  int rank = 0;
  int size = 1;
  double peer_timeout_s = 10;
  std::string secret;  ///< 32 bytes, the same in every process of this run and unknown outside it
  /// The rank of this process among those that share its cores, and their number. These are all processes on
  /// this host, unless a launcher has given each of them different cores.
  int local_rank = 0;
  int local_size = 1;
  int local_leader = 0;  ///< the rank in the job of the process among these whose local rank is 0
  std::string address = "127.0.0.1";  ///< that other hosts can reach; 127.0.0.1 when all are on one host
  std::vector<Interface>
      wanted_interfaces;           ///< that the user wants to be used, in the given order; empty: any
  std::vector<std::string> hosts;  ///< of every rank, for messages; empty when all are on this host
  bool proven = false;             ///< a handshake has authenticated the streams
  std::vector<int> nodes;  ///< p and q are on one host exactly when [p] == [q]; empty: all are on one host
};

/// The control plane of one process of a job. All calls are collective and block. They throw Error when the
/// job has failed. Messages may have any size. A thread exchanges heartbeats as long as this object lives. If
/// a peer dies, stops or is cut off, `health()` of every other process fails within the peer timeout.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  /// Result[p] is what process p has passed.
  virtual std::vector<std::string> allgather(const std::string& mine) = 0;
  /// Sends to[p] to process p. Result[p] is what process p has sent to this one.
  virtual std::vector<std::string> alltoall(std::span<const std::string> to) = 0;
  /// Does the same as allgather(), but only rank 0 gets the result; elsewhere it is empty.
  virtual std::vector<std::string> gather(const std::string& mine) = 0;
  /// Tells all others that this process gives up, and why; returns at once. They fail with a message that
  /// names this process.
  virtual void abort(const std::string& message) noexcept = 0;
  /// Ends the job, collectively. After it, a peer that goes away is no failure.
  virtual void finish() = 0;
  /// This process's failure state; lives as long as the Bootstrap.
  transport::Health& health() { return health_; }
  /// Messages of handshakes and collective calls that this process has sent; heartbeats are not counted.
  std::uint64_t messages_sent() const { return messages_sent_; }

  // The facts of Member follow.
  int rank() const { return self_.rank; }
  int size() const { return self_.size; }
  const std::string& secret() const { return self_.secret; }
  int local_rank() const { return self_.local_rank; }
  int local_size() const { return self_.local_size; }
  int local_leader() const { return self_.local_leader; }
  const std::vector<int>& nodes() const { return self_.nodes; }
  const std::string& address() const { return self_.address; }
  const std::vector<Interface>& wanted_interfaces() const { return self_.wanted_interfaces; }

 protected:
  explicit Bootstrap(Member self) : self_(std::move(self)) {}

  const Member self_;
  transport::Health health_;
  std::atomic<std::uint64_t> messages_sent_{0};  ///< guards nothing
};

/// Returns the bootstrap of a job of one process. There is nothing to connect.
std::unique_ptr<Bootstrap> alone();

/// Returns the bootstrap over connected stream sockets. Rank 0 has one to each other rank (`streams[p]`, [0]
/// is unused); all others have only `streams[0]`, to rank 0. All messages pass through rank 0. It starts the
/// thread that watches the peers.
std::unique_ptr<Bootstrap> connect_bootstrap(Member member, std::vector<transport::FileDescriptor> streams);

}  // namespace edgewire::launch
