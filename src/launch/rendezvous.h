#pragma once

#include <string>
#include <vector>

#include "transport/file_descriptor.h"

namespace edgewire::launch {

/// A job whose processes were started one by one, as one of them sees it before they are connected.
struct Rendezvous {
  int rank = 0;
  std::string secret;              ///< 32 bytes
  double start_timeout_s = 30;     ///< from now on
  std::vector<std::string> hosts;  ///< of every rank, for messages
  int size() const { return static_cast<int>(hosts.size()); }
};

/// Rank 0: waits on `listener` for all others, turns strangers away, then lets all go at once. Result[p]
/// leads to rank p, [0] is unused. Throws Error that names a rank that has not come in time.
std::vector<transport::FileDescriptor> receive_others(const Rendezvous& job,
                                                      const transport::FileDescriptor& listener);

/// Other ranks: come to rank 0 at the first of `addresses` that answers, each tried for some seconds in turn,
/// and wait until all are there. Result[0] leads to rank 0. Throws Error when rank 0 cannot be reached in
/// time.
std::vector<transport::FileDescriptor> come_to_hub(const Rendezvous& job,
                                                   const std::vector<std::string>& addresses, int port);

}  // namespace edgewire::launch
