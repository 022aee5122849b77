#pragma once

#include <memory>
#include <string>
#include <vector>

#include "launch/bootstrap.h"
#include "transport/file_descriptor.h"

namespace edgewire::launch {

/// What identifies a process among the others of its job.
struct Member {
  int rank = 0;
  int size = 1;
  double peer_timeout_s = 10;
  std::string secret;  ///< 32 bytes
  int local_rank = 0;
  int local_size = 1;
  int local_leader = 0;
  std::string address = "127.0.0.1";
  std::vector<Interface> wanted_interfaces;  ///< see Bootstrap::wanted_interfaces()
  std::vector<std::string> hosts;            ///< of every rank, for messages; empty when all are on this host
  bool proven = false;                       ///< a handshake has authenticated the streams
  std::vector<int> nodes;  ///< of every rank, see Bootstrap::nodes(); empty when all are on this host
};

/// The bootstrap over connected stream sockets. Rank 0 has one to each other rank (`streams[p]`, [0] is
/// unused); all others have only `streams[0]`, to rank 0. All messages pass through rank 0. Starts the thread
/// that watches the peers.
std::unique_ptr<Bootstrap> connect_bootstrap(Member member, std::vector<transport::FileDescriptor> streams);

}  // namespace edgewire::launch
