#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launch/agreement.h"
#include "launch/bootstrap.h"

namespace edgewire::launch {

/// Says where the processes of a job run. Values that are not set come from EDGEWIRE_HOSTS, EDGEWIRE_RANK,
/// EDGEWIRE_PORT, and EDGEWIRE_SECRET_FILE or EDGEWIRE_SECRET (64 hexadecimal digits). So any program that
/// starts processes can start a job.
struct LaunchOptions {
  int processes = 1;         ///< on this machine, when there is no host list
  bool local_hosts = false;  ///< each process on a separate local host, see LocalHosts
  /// The job goes on without processes that are lost, except rank 0, whose exit status is the job's: for a
  /// `body` that can do that, such as a TaskJob.
  bool tolerates_losses = false;
  std::uint64_t link_bits_per_s = 0;  ///< of local hosts; 0: not shaped
  std::string hosts_file;             ///< line i: address[:port] of rank i; # starts a comment
  int rank = -1;                      ///< of this process in the host list
  std::string secret_file;            ///< any bytes, the same file on every host; needed with a host list
  int port = 0;                       ///< of host-list lines that name none; 0: kDefaultPort
  double peer_timeout_s = 10;         ///< a peer that is silent for so long is lost
  double start_timeout_s = 30;        ///< time within which all processes that are not forked here must start
  std::string launcher = "auto";      ///< auto: Slurm or mpirun, if it has started this process; none
  /// The way to need less memory, for the line about a process that the kernel has killed for want of it.
  std::string less_memory = "fewer processes here and more on other hosts";
  std::string interface;  ///< of a host list or launcher: names or networks ("10.0.0.0/24"), with commas, of
                          ///< the interfaces to use
  std::vector<Fact> alike;  ///< must be the same in all processes, which may have been started one by one
};

constexpr int kDefaultPort = 7471;
constexpr int kMaxProcesses = 1024;

/// Runs `body` in every process of the job on this host. Returns the exit status for main: 0 only if all
/// succeeded.
/// - Without a host list it forks `processes` children and watches over them. So no thread may exist yet. A
/// single
///   process runs inline.
/// - With a host list this process is the one with `rank`.
/// - A process that a launcher started learns its rank from the launcher (see launcher.h).
/// If `body` throws, it tells the others, prints one line to stderr, and returns 1 (2 for a UsageError). It
/// calls finish() of the bootstrap after `body`. Throws Error or UsageError when the job cannot start.
int run(const LaunchOptions& options, const std::function<void(Bootstrap&)>& body);

}  // namespace edgewire::launch
