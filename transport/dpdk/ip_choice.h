#pragma once

#include <string>

#include "transport/dpdk/frame.h"
#include "transport/file_descriptor.h"

namespace edgewire::transport::dpdk {

/// The source of frames in IPv4 and UDP, and the way of those for another network.
struct IpChoice {
  bool used = false;
  IpAddress address{};
  int prefix = 32;           ///< number of bits that all addresses of this process's network share
  bool has_gateway = false;  ///< whether there is a gateway; else all peers are on one Ethernet
  MacAddress gateway{};

  /// Returns whether frames for this address go to the gateway.
  bool is_beyond(const IpAddress& other) const noexcept;
};

/// Makes the choice from `ADDRESS[/PREFIX][@GATEWAY]`, as 10.0.0.1/24@52:54:00:12:34:56, or `auto[@GATEWAY]`:
/// what the interface of the virtual device `port` has. An empty text is not used. Throws UsageError, Error.
IpChoice ip_choice(const std::string& text, const std::string& port);

/// Makes a kernel quiet: while the result is open, a kernel that sees the port's frames, too, drops them and
/// does not answer each with "port unreachable". Returns none where the kernel does not have this address.
FileDescriptor quiet_kernel(const IpAddress& address) noexcept;

}  // namespace edgewire::transport::dpdk
