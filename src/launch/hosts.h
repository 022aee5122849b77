#pragma once

#include <memory>
#include <string>
#include <vector>

#include "edgewire/launch.h"

namespace edgewire::launch {

/// One line of a hosts file.
struct Host {
  std::string address;
  int port = 0;
};

/// Reads a host list. Line i (comments and empty lines apart) is rank i: `address[:port]`, IPv6 in brackets.
/// A line without a port has `default_port` plus the number of earlier lines with its address. Throws Error.
std::vector<Host> read_hosts(const std::string& path, int default_port);

/// Returns 32 bytes from a secret file (any content of at least 16 bytes, hashed), which belongs to this user
/// alone, or from 64 hexadecimal digits in the environment. Throws Error.
std::string load_secret(const std::string& path);

/// Joins the job of the host list. Rank 0 listens and waits; all others connect to it. Both sides prove that
/// they know the secret. Throws Error when not all processes have connected within the start timeout.
std::unique_ptr<Bootstrap> join_hosts(const LaunchOptions& options);

}  // namespace edgewire::launch
