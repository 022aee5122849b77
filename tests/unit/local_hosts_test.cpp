#include "launch/local_hosts.h"
#include "launch/start.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/error.h"
#include "edgewire/launch.h"
#include "launch/program.h"

namespace edgewire::launch {
namespace {

ino_t network_namespace() {
  struct stat status {};
  REQUIRE(stat("/proc/thread-self/ns/net", &status) == 0);
  return status.st_ino;
}

/// What the kernel says: IFLA_GSO_IPV4_MAX_SIZE; 0 where it has none.
std::uint32_t largest_packet_of(const char* device) {
  struct {
    nlmsghdr header{};
    ifinfomsg link{};
  } request;
  request.header = {sizeof request, RTM_GETLINK, NLM_F_REQUEST, 0, 0};
  request.link.ifi_index = static_cast<int>(if_nametoindex(device));
  const transport::FileDescriptor netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  REQUIRE(send(netlink.get(), &request, sizeof request, 0) == sizeof request);
  alignas(nlmsghdr) std::array<char, 65536> answer;
  const ssize_t bytes = recv(netlink.get(), answer.data(), answer.size(), 0);
  REQUIRE(bytes > 0);
  const auto* header = reinterpret_cast<const nlmsghdr*>(answer.data());
  REQUIRE(header->nlmsg_type == RTM_NEWLINK);
  auto left = static_cast<int>(IFLA_PAYLOAD(header));
  auto* attribute = IFLA_RTA(static_cast<const ifinfomsg*>(NLMSG_DATA(header)));
  for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
    if (attribute->rta_type == 63) return *static_cast<const std::uint32_t*>(RTA_DATA(attribute));
  }
  return 0;
}

TEST_CASE("a link passes what the wire passes of full frames") {
  CHECK(shaping("eth0", 0) == "");
  CHECK(shaping("eth0", 1'000'000'000) ==
        "qdisc add dev eth0 root tbf rate 984395318bit burst 196879 latency 50ms\n");
  CHECK(shaping("port3", 10'000'000'000).find("dev port3 root tbf rate 98439") != std::string::npos);
}

TEST_CASE("what an idle link passes at once takes 1.6 ms at its rate, or is two frames") {
  CHECK(burst_bytes(1'000'000) == 2 * 1514);
  CHECK(burst_bytes(10'000'000) == 2 * 1514);
  for (const std::uint64_t rate : {100'000'000ULL, 1'000'000'000ULL, 100'000'000'000ULL}) {
    CHECK(static_cast<double>(burst_bytes(rate)) * 8 / static_cast<double>(rate) < 1.6e-3);
    CHECK(static_cast<double>(burst_bytes(rate)) * 8 / static_cast<double>(rate) > 1.5e-3);
  }
}

TEST_CASE("what TCP hands to a link at once passes in one burst") {
  CHECK(largest_packet(0) == 0);
  CHECK(largest_packet(100'000'000) == 0);
  CHECK(largest_packet(500'000'000) == 92'280);
  CHECK(largest_packet(1'000'000'000) == 184'560);
  CHECK(largest_packet(1'000'000'000) * 1514 / 1448 < burst_bytes(1'000'000'000));
  CHECK(largest_packet(100'000'000'000) == 500'000);
}

TEST_CASE("numbers of local hosts that make no sense are refused") {
  for (const int hosts : {-1, 0, 1, kMaxLocalHosts + 1})
    CHECK_THROWS_AS(LocalHosts(hosts, 0, 10), UsageError);
  StartOptions options;
  options.link_bits_per_s = 1'000'000'000;
  CHECK_THROWS_AS(start(options, [](Bootstrap&) {}), UsageError);
}

TEST_CASE("local hosts come and go") {
  if (run_program({"unshare", "--net", "--mount", "true"}).status != 0) {
    MESSAGE("skipped: no network namespaces here (they need root with CAP_SYS_ADMIN)");
    return;
  }
  const ino_t home = network_namespace();
  {
    const LocalHosts hosts(2, 1'000'000'000, 10);
    CHECK(network_namespace() != home);
    // Or the bridge would vanish with its namespace.
    const transport::FileDescriptor middle(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
    hosts.enter(1);
    const auto addresses = run_program({"ip", "-brief", "address", "show", "eth0"});
    CHECK(addresses.status == 0);
    CHECK(addresses.output.find(LocalHosts::address(1) + "/16") != std::string::npos);
    const auto known = run_program({"cat", "/proc/sys/net/ipv4/tcp_available_congestion_control"});
    if (known.output.find("cubic") != std::string::npos)
      CHECK(run_program({"ip", "route"}).output.find("congctl cubic") != std::string::npos);
    CHECK(run_program({"tc", "qdisc", "show", "dev", "eth0"}).output.find("tbf") != std::string::npos);
    const std::uint32_t largest = largest_packet_of("eth0");
    CHECK((largest == 0 || largest == largest_packet(1'000'000'000)));
  }
  CHECK(network_namespace() == home);
}

TEST_CASE("a program gets its input, and both outputs and the status come back") {
  const std::string much(300'000, 'x');  // more than pipes hold
  const auto end = run_program({"sh", "-c", "cat; echo why >&2; exit 3"}, much);
  CHECK(end.status == 3);
  CHECK(end.output == much);
  CHECK(end.diagnostics == "why\n");
  CHECK(end.last_words() == "why");
  CHECK(run_program({"sh", "-c", "kill -TERM $$"}).status == 128 + 15);
  CHECK(run_program({"sh", "-c", "exit 4"}, much).last_words() == "exit status 4");
  CHECK_THROWS_WITH_AS(run_program({"no-such-program"}),
                       "cannot start no-such-program: No such file or directory", Error);
}

TEST_CASE("a program that stays stopped is killed") {
  // With its outputs open, and after it has closed them.
  for (const char* script : {"kill -STOP $$", "exec >&- 2>&-; kill -STOP $$"}) {
    try {
      run_program({"sh", "-c", script}, {}, 0.1);
      FAIL("it has ended");
    } catch (const ProgramStopped& error) {
      const std::string_view line = error.what();
      CHECK(line.starts_with("sh (process "));
      CHECK(line.find(") was stopped for ") != line.npos);
      CHECK(line.ends_with(" s, so it is killed"));
    }
    CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
  }
}

TEST_CASE("a program that goes on after a stop is not killed") {
  const char* script =
      "(until grep -q '^State:.T' /proc/$$/status; do sleep 0.01; done; sleep 0.2; kill -CONT $$) & kill "
      "-STOP $$; exit 5";
  CHECK(run_program({"sh", "-c", script}, {}, 60).status == 5);
}

}  // namespace
}  // namespace edgewire::launch
