#pragma once

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <tuple>

#include "options/option.h"
#include "transport/dpdk/frame.h"
#include "transport/file_descriptor.h"
#include "transport/transport.h"

namespace edgewire::transport::dpdk {

/// A frame to be sent: headers, and payload that may be read after the call, until the peer has acknowledged
/// it; payload that does not live so long lies in `own`.
struct Outgoing {
  Head head;
  std::array<std::byte, kAckBytes> own;
  std::span<const std::byte> payload;
  std::size_t lane = 0;  ///< lane that sends; all frames of one lane may take one queue
};

inline constexpr std::size_t kMostQueues = std::tuple_size_v<decltype(Counters::queue_frames)>;

/// The facts that are known of a port when it is open.
struct PortFacts {
  MacAddress mac{};
  std::uint32_t mtu = 1500;      ///< most bytes behind the Ethernet header
  std::uint64_t bits_per_s = 0;  ///< rate of the link; 0: unknown
  std::uint32_t buffers = 0;     ///< number of incoming frames that may be kept at a time
  bool sends_in_place = false;   ///< whether payload leaves from where it lies; else it is copied once
  std::string queues;            ///< number of queues, and what spreads incoming frames over them
  bool checks_udp = false;       ///< whether the port fills in UDP checksums
};

/// A port that sends and receives Ethernet frames. One thread at a time uses it; it never blocks, allocates
/// or throws once it is open. The plug-in that holds all of DPDK implements it, and tests do.
class FramePort {
 public:
  virtual ~FramePort() = default;
  virtual const PortFacts& facts() const noexcept = 0;
  /// Remembers memory, in whole pages, that payload will come from. The caller keeps it until forget().
  virtual void remember(std::span<std::byte> memory) = 0;
  virtual void forget(std::span<std::byte> memory) noexcept = 0;
  /// Receives frames, at most frames.size(). Returns how many have come in.
  virtual std::size_t receive(std::span<Incoming> frames) noexcept = 0;
  virtual void release(void* handle) noexcept = 0;
  /// Sends frames. Returns how many were taken, from the front.
  virtual std::size_t send(std::span<const Outgoing> frames) noexcept = 0;
  /// Returns how many frames have come in by a queue. Any thread may call it.
  virtual std::uint64_t received_by(std::size_t queue) const noexcept = 0;
  /// Returns how many frames that the port itself has dropped for want of buffers.
  virtual std::uint64_t missed() const noexcept = 0;
};

/// The options that the plug-in is told.
struct PortOptions {
  std::string port;  ///< PCI address[,mtu=BYTES], or virtual device such as "net_af_packet0,iface=eth0"
  std::string args;  ///< more arguments for the EAL, divided by blanks
  bool udp = false;  ///< whether frames are in IPv4 and UDP
  int lanes = 1;     ///< number of lanes; each gets a queue where the port has so many
  /// The face in whose words the plug-in speaks. The plug-in has its own copy of the options folder.
  options::Face face = options::spoken();
};

/// Returns the value of `name=` among a virtual device's arguments; empty when it is not there.
inline std::string argument(const std::string& port, const std::string& name) {
  const std::size_t at = port.find("," + name + "=");
  if (at == port.npos) return {};
  const std::size_t begin = at + name.size() + 2;
  return port.substr(begin, port.find(',', begin) - begin);
}

/// Asks ioctl(`question`), as netdevice(7) lists them. Returns false without such an interface or answer.
inline bool ask_interface(const std::string& name, unsigned long question, ifreq& answer) noexcept {
  answer = {};
  if (name.empty() || name.size() >= sizeof answer.ifr_name) return false;
  name.copy(answer.ifr_name, name.size());
  const FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return socket && ioctl(socket.get(), question, &answer) == 0;
}

/// Returns how many bytes of huge pages of the system's usual size are free. The plug-in asks, too.
inline std::uint64_t free_huge_bytes() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t pages = 0, kilobytes = 0;
  for (std::string line; std::getline(file, line);) {
    std::sscanf(line.c_str(), "HugePages_Free: %lu", &pages);
    std::sscanf(line.c_str(), "Hugepagesize: %lu", &kilobytes);
  }
  return pages * kilobytes * 1024;
}

/// The one function of the plug-in. If it returns null, `trouble` says why. Both sides are of one `version`.
using OpenPort = FramePort* (*)(const PortOptions& options, const char* version, std::string& trouble);
inline constexpr char kOpenPort[] = "edgewire_dpdk_open_port";
inline constexpr char kPluginName[] = "libedgewire-dpdk.so";

/// Returns why no port can be opened by this process, and the remedy; empty when one might. Starts nothing.
std::string trouble_with_plugin();

/// Returns what an operator should know of a machine where ports might be opened: cards and huge pages.
std::string ports_here();

/// Makes a port that does to frames, in and out, what bad links do. `faults` is a list such as
/// "seed=7,drop=0.01,duplicate=0.01,reorder=0.05,corrupt=0.001,truncate=0.001": what happens to the n-th
/// frame depends on the seed and n alone, so that it can be replayed. Throws UsageError.
std::unique_ptr<FramePort> with_frame_faults(std::unique_ptr<FramePort> inner, const std::string& faults);

}  // namespace edgewire::transport::dpdk
