// The control plane of a job whose processes are threads of the test.
#pragma once

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launch/bootstrap.h"

namespace edgewire::launch {

/// Returns the bootstraps. `hosts`: whether each process takes itself for the only one of its host.
inline std::vector<std::unique_ptr<Bootstrap>> bootstraps(int size, bool hosts = false) {
  std::vector<std::vector<transport::FileDescriptor>> streams(static_cast<std::size_t>(size));
  streams[0].emplace_back();
  for (std::size_t p = 1; p < streams.size(); ++p) {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    streams[0].emplace_back(ends[0]);
    streams[p].emplace_back(ends[1]);
  }
  std::vector<std::unique_ptr<Bootstrap>> bootstraps;
  for (int p = 0; p < size; ++p) {
    Member member;
    member.rank = member.local_rank = p;
    member.size = member.local_size = size;
    member.peer_timeout_s = 100;  // seconds, many for busy machines
    member.secret = std::string(32, 's');
    for (int q = 0; hosts && q < size; ++q) member.nodes.push_back(q);
    bootstraps.push_back(
        connect_bootstrap(std::move(member), std::move(streams[static_cast<std::size_t>(p)])));
  }
  return bootstraps;
}

}  // namespace edgewire::launch
