#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "launch/bootstrap.h"

namespace edgewire::launch {

/// Where the processes of a job run. What is not set comes from EDGEWIRE_HOSTS, EDGEWIRE_RANK, EDGEWIRE_PORT
/// and EDGEWIRE_SECRET_FILE or EDGEWIRE_SECRET (64 hexadecimal digits), so that any starter of processes will
/// do.
struct LaunchOptions {
  int processes = 1;                  ///< on this machine, when there is no host list
  bool local_hosts = false;           ///< each of them on a host of its own, see LocalHosts
  std::uint64_t link_bits_per_s = 0;  ///< of local hosts; 0: not shaped
  std::string hosts_file;             ///< line i: address[:port] of rank i; # starts a comment
  int rank = -1;                      ///< of this process in the host list
  std::string secret_file;            ///< any bytes, the same file on every host; needed with a host list
  int port = 0;                       ///< of host-list lines that name none; 0: kDefaultPort
  double peer_timeout_s = 10;         ///< a peer that is silent for so long is lost
  double start_timeout_s = 30;  ///< processes that are not forked here must all have started within this time
  std::string launcher = "auto";  ///< auto: Slurm, mpirun... where they started this process; none
  std::string interface;  ///< of a host list or launcher: names or networks ("10.0.0.0/24"), with commas, of
                          ///< the interfaces to use
};

constexpr int kDefaultPort = 7471;
constexpr int kMaxProcesses = 1024;

/// Runs `body` in every process of the job that lives on this host and returns the exit status for main, 0
/// only when all succeeded. Without a host list it forks `processes` children, so no thread may exist yet,
/// and watches over them; one process alone runs inline. With a host list this process is the one of `rank`;
/// one of several that a launcher started learns its rank from it (see launcher.h).
/// When `body` throws, the others are told, one line goes to stderr and the status is 1 (2 for a UsageError).
/// `finish()` of the bootstrap is called here after `body`. Throws Error or UsageError when the job cannot
/// start.
int run(const LaunchOptions& options, const std::function<void(Bootstrap&)>& body);

}  // namespace edgewire::launch
