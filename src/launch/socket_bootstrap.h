#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launch/bootstrap.h"
#include "transport/file_descriptor.h"

namespace edgewire::launch {

/// Who a process is among the others.
struct Member {
  int rank = 0;
  int size = 1;
  double peer_timeout_s = 10;
  std::string secret;  ///< 32 bytes
  int local_rank = 0;
  int local_size = 1;
  std::string address = "127.0.0.1";
  std::vector<Interface> wanted_interfaces;  ///< see Bootstrap::wanted_interfaces()
  std::vector<std::string> hosts;            ///< of every rank, for messages; empty when all are on this host
  bool proven = false;                       ///< the streams began with a handshake
  std::vector<int> nodes;  ///< of every rank, see Bootstrap::nodes(); empty when all are on this host
};

/// The bootstrap over a star of connected stream sockets: at rank 0 one per other rank (`streams[p]`, [0]
/// unused), elsewhere only `streams[0]`, to rank 0. All messages pass through rank 0. Starts the thread that
/// watches the peers.
std::unique_ptr<Bootstrap> connect_bootstrap(Member member, std::vector<transport::FileDescriptor> streams);

}  // namespace edgewire::launch
