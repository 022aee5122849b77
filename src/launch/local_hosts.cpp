#include "launch/local_hosts.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "launch/program.h"
#include "options/jobs.h"

namespace edgewire::launch {
namespace {

using transport::FileDescriptor;

constexpr std::uint64_t kLeastBurstBytes = 2 * 1514;  ///< least burst: TCP sends two frames together at least

void fail(const char* what) {
  throw Error(fmt::format("{}: cannot {}: {}", opt::local_hosts, what, reason(errno)));
}

FileDescriptor namespace_here() {
  FileDescriptor here(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!here) fail("open a network namespace");
  return here;
}

void enter_new_namespace() {
  if (unshare(CLONE_NEWNET) == 0) return;
  if (errno == EPERM) {
    throw Error(
        fmt::format("{} needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN): run it with sudo, or without it over "
                    "127.0.0.1, unshaped ({})",
                    opt::local_hosts, opt::transport("tcp")));
  }
  fail("make a network namespace");
}

void enter_namespace(const FileDescriptor& there) {
  if (setns(there.get(), CLONE_NEWNET) != 0) fail("enter a network namespace");
}

/// Runs ip or tc.
ProgramEnd run_tool(const std::vector<std::string>& words, double stop_timeout_s,
                    const std::string& input = {}) {
  try {
    return run_program(words, input, stop_timeout_s);
  } catch (const ProgramStopped& error) {
    throw Error(fmt::format("{}: {}", opt::local_hosts, error.what()));
  } catch (const Error& error) {
    const std::string line = error.what();
    const bool missing = line.ends_with(reason(ENOENT));
    throw Error(
        fmt::format("{}: {}{}", opt::local_hosts, line, missing ? " (apt-get install iproute2)" : ""));
  }
}

/// Runs `program`, which is ip or tc, on `commands`, lines of its batch mode.
void configure(const char* program, const std::string& commands, double stop_timeout_s) {
  if (commands.empty()) return;
  const ProgramEnd end = run_tool({program, "-batch", "-"}, stop_timeout_s, commands);
  if (end.status == 0) return;
  // The first line says why, the next one which command it was.
  const std::string line = end.diagnostics.substr(0, end.diagnostics.find('\n'));
  throw Error(fmt::format("{}: {}: {}", opt::local_hosts, program, line.empty() ? end.last_words() : line));
}

/// Takes the congestion control that Linux takes unless it is set otherwise, so that local hosts are alike on
/// all machines: others cost more of the shared cores (bbr: a timer for each packet). It is set by the route,
/// because namespaces may not name one that is restricted. A kernel without it keeps its own.
void use_cubic(const std::string& address, double stop_timeout_s) {
  run_tool({"ip", "route", "change", "10.77.0.0/16", "dev", "eth0", "proto", "kernel", "scope", "link", "src",
            address, "congctl", "cubic"},
           stop_timeout_s);
}

/// Returns the rate as the kernel counts it: without preamble, checksum and gap, 1514 of 1538 bytes.
std::uint64_t counted(std::uint64_t bits_per_s) { return bits_per_s * 1514 / 1538; }

/// Sets the size by netlink, since Debian 12's `ip` cannot. A kernel before Linux 6.3 has no such size.
void set_largest_packet(const std::string& device, std::uint32_t bytes) {
  if (bytes == 0) return;
  constexpr std::uint16_t kGsoIpv4MaxSize = 63;  // IFLA_GSO_IPV4_MAX_SIZE of a newer linux/if_link.h
  struct {
    nlmsghdr header{};
    ifinfomsg link{};
    rtattr attribute{};
    std::uint32_t bytes = 0;
  } request;
  request.header = {sizeof request, RTM_NEWLINK, NLM_F_REQUEST, 0, 0};
  request.link.ifi_index = static_cast<int>(if_nametoindex(device.c_str()));
  request.attribute = {RTA_LENGTH(sizeof bytes), kGsoIpv4MaxSize};
  request.bytes = bytes;
  const FileDescriptor netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  [[maybe_unused]] const ssize_t ignored = send(netlink.get(), &request, sizeof request, 0);
}

}  // namespace

std::uint64_t burst_bytes(std::uint64_t bits_per_s) {
  return std::max(counted(bits_per_s) / 8 * 16 / 10000, kLeastBurstBytes);
}

std::uint32_t largest_packet(std::uint64_t bits_per_s) {
  constexpr std::uint64_t kUsualBytes = 65536, kMostBytes = 500'000;
  // A sixteenth is more than the frames' headers, which count in the burst.
  const std::uint64_t bytes = std::min({burst_bytes(bits_per_s) / 16 * 15, bits_per_s / 8 / 500, kMostBytes});
  return bytes > kUsualBytes ? static_cast<std::uint32_t>(bytes) : 0;
}

std::string shaping(const std::string& device, std::uint64_t bits_per_s) {
  if (bits_per_s == 0) return {};
  return fmt::format("qdisc add dev {} root tbf rate {}bit burst {} latency 50ms\n", device,
                     counted(bits_per_s), burst_bytes(bits_per_s));
}

LocalHosts::LocalHosts(int hosts, std::uint64_t link_bits_per_s, double stop_timeout_s) {
  if (hosts < 2 || hosts > kMaxLocalHosts)
    throw UsageError(fmt::format("{} needs {} from 2 to {}, not {}", opt::local_hosts, opt::processes,
                                 kMaxLocalHosts, hosts));
  home_ = namespace_here();
  try {
    for (int i = 0; i < hosts; ++i) {
      enter_new_namespace();
      hosts_.push_back(namespace_here());
    }
    enter_new_namespace();
    std::string links = "link add switch type bridge\nlink set switch up\n";
    std::string shapes;
    for (int i = 0; i < hosts; ++i) {
      const std::string port = fmt::format("port{}", i);
      links += fmt::format("link add {} type veth peer name eth0 netns /proc/{}/fd/{}\n", port, getpid(),
                           hosts_[i].get());
      links += fmt::format("link set {} master switch up\n", port);
      shapes += shaping(port, link_bits_per_s);
    }
    const FileDescriptor middle = namespace_here();
    configure("ip", links, stop_timeout_s);
    configure("tc", shapes, stop_timeout_s);
    const std::uint32_t largest = largest_packet(link_bits_per_s);
    for (int i = 0; i < hosts; ++i) set_largest_packet(fmt::format("port{}", i), largest);
    for (int i = 0; i < hosts; ++i) {
      enter(i);
      configure("ip", fmt::format("addr add {}/16 dev eth0\nlink set lo up\nlink set eth0 up\n", address(i)),
                stop_timeout_s);
      use_cubic(address(i), stop_timeout_s);
      configure("tc", shaping("eth0", link_bits_per_s), stop_timeout_s);
      set_largest_packet("eth0", largest);
    }
    enter_namespace(middle);
  } catch (...) {
    setns(home_.get(), CLONE_NEWNET);
    throw;
  }
}

LocalHosts::~LocalHosts() { setns(home_.get(), CLONE_NEWNET); }

std::string LocalHosts::address(int host) { return fmt::format("10.77.0.{}", host + 1); }

void LocalHosts::enter(int host) const { enter_namespace(hosts_[host]); }

}  // namespace edgewire::launch
