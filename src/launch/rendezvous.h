#pragma once

#include <string>
#include <vector>

#include "transport/file_descriptor.h"

namespace edgewire::launch {

/// The facts that a process, started by itself, knows of its job before the processes are connected.
struct Rendezvous {
  int rank = 0;
  std::string secret;              ///< 32 bytes
  double start_timeout_s = 30;     ///< seconds from now on
  std::vector<std::string> hosts;  ///< hosts of all ranks, for messages
  double peer_timeout_s = 10;      ///< timeout for hosts that are lost after they have connected
  bool launched = false;           ///< whether a launcher has started all processes, so that none comes late
  int size() const { return static_cast<int>(hosts.size()); }
};

/// Waits on `listener`, at rank 0, until all others have connected, refuses strangers, then lets all
/// continue. Result[p] is the connection to rank p; [0] is unused. Throws Error that names a rank that has
/// not connected in time, or has gone again, and tells the others. Without a launcher it waits for those that
/// come late, up to the peer timeout and within the start timeout, and tells them, too.
std::vector<transport::FileDescriptor> receive_others(const Rendezvous& job,
                                                      const transport::FileDescriptor& listener);

/// Connects to rank 0, at all other ranks, at the first of `addresses` that answers, and waits until all
/// others have connected. It tries each address for some seconds, in turn. Result[0] is the connection to
/// rank 0. Throws Error when rank 0 cannot be reached in time, or gives up.
std::vector<transport::FileDescriptor> come_to_hub(const Rendezvous& job,
                                                   const std::vector<std::string>& addresses, int port);

}  // namespace edgewire::launch
