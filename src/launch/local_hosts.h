#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "transport/file_descriptor.h"

namespace edgewire::launch {

constexpr int kMaxLocalHosts = 250;

/// Hosts on one machine: network namespaces. A veth pair links each of them to a bridge. Both directions of
/// each link are shaped to a rate (tc-tbf). The calling thread is in the namespace of the bridge as long as
/// this object lives. Nothing gets a name in the system. Only open files and the processes inside keep the
/// namespaces alive, so the kernel removes them when the processes end, however they end.
class LocalHosts {
 public:
  /// Makes the hosts. `link_bits_per_s` 0: as fast as the machine goes. Needs root and iproute2; no thread
  /// may exist yet. An `ip` or `tc` that is stopped for longer than `stop_timeout_s` is killed. Throws Error
  /// with the remedy, UsageError for other numbers than 2 to kMaxLocalHosts.
  LocalHosts(int hosts, std::uint64_t link_bits_per_s, double stop_timeout_s);
  ~LocalHosts();
  LocalHosts(const LocalHosts&) = delete;
  LocalHosts& operator=(const LocalHosts&) = delete;

  /// Returns the IPv4 address of a host. Every LocalHosts has the same addresses; they do not see each other.
  static std::string address(int host);
  /// Moves the calling thread, and all that it starts, to a host. Throws Error.
  void enter(int host) const;

 private:
  transport::FileDescriptor home_;
  std::vector<transport::FileDescriptor> hosts_;
};

/// Returns how many bytes an idle link passes at once: 1.6 ms of its rate, or two frames. A timer that ends
/// late by less costs no rate; with a smaller burst TCP does not reach it on a busy machine.
std::uint64_t burst_bytes(std::uint64_t bits_per_s);

/// Returns the commands for `tc -batch` that shape a device; an empty string for rate 0.
std::string shaping(const std::string& device, std::uint64_t bits_per_s);

/// Returns how many bytes TCP hands to a shaped link at once: at most what a burst or 2 ms pass. 0 means the
/// usual size, 64 kB. The shaper (tbf) wakes a core for each such packet that has to wait.
std::uint32_t largest_packet(std::uint64_t bits_per_s);

}  // namespace edgewire::launch
