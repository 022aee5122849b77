// Starts the processes of a job, and the calls by which all of them agree.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace edgewire::transport {
class Health;
}

namespace edgewire::launch {

/// An address of this host and its network: "10.0.0.1", 24.
struct Interface {
  std::string name;
  std::string address;
  int prefix_bits = 0;
};

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
  /// Whether the network cards of this machine reach the other hosts. Local hosts have links of their own,
  /// which the cards do not reach.
  bool cards_reach_hosts = true;
};

/// The control plane of one process of a job. All calls are collective and block. They throw Error when the
/// job has failed. Messages may have any size. A thread exchanges heartbeats as long as this object lives. If
/// a peer dies, stops or is cut off, `health()` of every other process fails within the peer timeout.
class Bootstrap {
 public:
  virtual ~Bootstrap();
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
  transport::Health& health() noexcept { return *health_; }
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
  bool cards_reach_hosts() const { return self_.cards_reach_hosts; }
  const std::string& address() const { return self_.address; }
  const std::vector<Interface>& wanted_interfaces() const { return self_.wanted_interfaces; }

 protected:
  explicit Bootstrap(Member self);

  const Member self_;
  const std::unique_ptr<transport::Health> health_;
  std::atomic<std::uint64_t> messages_sent_{0};  ///< guards nothing
};

/// Says where the processes of a job run. Values that are not set come from EDGEWIRE_HOSTS, EDGEWIRE_RANK,
/// EDGEWIRE_PORT, EDGEWIRE_INTERFACE, and EDGEWIRE_SECRET_FILE or EDGEWIRE_SECRET (64 hexadecimal digits). So
/// any program that starts processes can start a job.
struct LaunchOptions {
  int processes = 1;         ///< on this machine, when there is no host list
  bool local_hosts = false;  ///< each process in network namespaces of its own, as on a host
  /// The job goes on without processes that are lost, except rank 0, whose failure is the job's: for a
  /// `body` that can do that, such as a TaskJob.
  bool tolerates_losses = false;
  std::uint64_t link_bits_per_s = 0;  ///< of local hosts; 0: not shaped
  std::string hosts_file;             ///< line i: address[:port] of rank i; # starts a comment
  int rank = -1;                      ///< of this process in the host list
  std::string secret_file;            ///< any bytes, the same file on every host; needed with a host list
  int port = 0;                       ///< of host-list lines that name none; 0: kDefaultPort
  double peer_timeout_s = 10;         ///< a peer that is silent for so long is lost
  double start_timeout_s = 30;        ///< time within which all processes that are not forked here must start
  bool join_launcher = true;          ///< join the processes of Slurm or mpirun, if it has started this one
  std::string interface;  ///< of a host list or launcher: names or networks ("10.0.0.0/24"), with commas, of
                          ///< the interfaces to use
};

constexpr int kDefaultPort = 7471;   ///< TCP port of host-list lines that name none
constexpr int kMaxProcesses = 1024;  ///< the most processes of a job on this machine

/// Returns the control plane of a job of one process, which is this one. There is nothing to connect.
std::unique_ptr<Bootstrap> alone();

/// Runs `body` in every process of the job on this host, and calls finish() of the bootstrap after it.
/// - Without a host list it forks `processes` children and watches over them, so no thread may exist yet. A
///   single process runs inline.
/// - With a host list this process is the one with `rank`.
/// - A process that a launcher has started learns its rank from the launcher.
/// Throws what `body` throws in this process alone; else the failure of the process that failed first, as
/// UsageError or Error, when all have ended. Prints nothing, unless a process
/// ends at once: when a mapped file loses its pages, or the launcher is gone. One call at a time.
void run(const LaunchOptions& options, const std::function<void(Bootstrap&)>& body);

/// Prepares for a job in a process that this one forks next: call it before each. It reads what this machine
/// is made of, which the process need not do again, and counts the job: by its number a launcher tells it
/// from the others. All processes of a launcher make the same calls. Throws Error.
void prepare_to_fork();

/// Says that this process was just forked: the peak of memory in its reports does not count what it has from
/// its parent. run() says so in the processes that it forks.
void leave_out_parents_memory();

}  // namespace edgewire::launch

#pragma GCC visibility pop
