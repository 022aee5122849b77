#include "topology/page_nodes.h"
#include "base/rooms.h"

#include <doctest/doctest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <numa.h>
#include <numaif.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "edgewire/detail/memory.h"
#include "stderr_capture.h"
#include "topology/machine.h"

namespace edgewire::topology {
namespace {

constexpr std::size_t kMiB = 1 << 20;

int first_node() { return discover().nodes[0].os_index; }

std::span<const std::byte> bytes_of(const NodeMemory& memory) {
  return std::as_bytes(memory.as<std::byte>());
}

/// The policy of a page, and the nodes that it names. -1: this system has none.
std::pair<int, std::vector<int>> policy_of(const std::byte* page) {
  if (numa_available() < 0) return {-1, {}};
  const std::unique_ptr<bitmask, decltype(&numa_bitmask_free)> mask(numa_allocate_nodemask(),
                                                                    numa_bitmask_free);
  int mode = -1;
  if (get_mempolicy(&mode, mask->maskp, mask->size + 1, const_cast<std::byte*>(page), MPOL_F_ADDR) != 0)
    return {-1, {}};
  std::vector<int> nodes;
  for (unsigned node = 0; node < mask->size; ++node)
    if (numa_bitmask_isbitset(mask.get(), node) != 0) nodes.push_back(static_cast<int>(node));
  return {mode, nodes};
}

/// The node of a page that is there, from another system call than the one that counts.
int node_of(const std::byte* page) {
  int node = -1;
  return get_mempolicy(&node, nullptr, 0, const_cast<std::byte*>(page), MPOL_F_NODE | MPOL_F_ADDR) == 0 ? node
                                                                                                        : -1;
}

/// libnuma takes the later one where the kernel has it.
bool prefers(int mode) { return mode == MPOL_PREFERRED || mode == MPOL_PREFERRED_MANY; }

bool has_policies() {
  const bool has = policy_of(reinterpret_cast<const std::byte*>(&has_policies)).first >= 0;
  if (!has) MESSAGE("skipped: no memory policies here (refused, as in containers)");
  return has;
}

TEST_CASE("pages have the policy that was asked for, from their first byte to their last") {
  if (!has_policies()) return;
  const NodeMemory memory(kMiB, -1, "a test");
  const auto bytes = bytes_of(memory);
  const std::vector nodes{first_node()};
  // Page 2 from its second byte on, to the first byte of page 5.
  place_pages({bytes.subspan(2 * page_bytes() + 1, 3 * page_bytes()), nodes});
  for (std::size_t page = 0; page < 8; ++page) {
    const auto [mode, on] = policy_of(bytes.data() + page * page_bytes());
    CHECK(prefers(mode) == (page >= 2 && page <= 5));
    CHECK((on == nodes) == (page >= 2 && page <= 5));
  }
  const std::vector several{first_node(), first_node()};
  place_pages({bytes.subspan(16 * page_bytes(), 4 * page_bytes()), several});
  CHECK(policy_of(bytes.data() + 16 * page_bytes()) == std::pair(int{MPOL_INTERLEAVE}, nodes));
  CHECK(policy_of(bytes.data() + 20 * page_bytes()).first == MPOL_DEFAULT);
  CHECK(policy_refusal().empty());
}

TEST_CASE("memory asks for its node") {
  const NodeMemory near(kMiB, first_node(), "a test"), anywhere(kMiB, -1, "a test");
  if (!has_policies()) return;  // nothing can be asked for
  CHECK(policy_of(bytes_of(anywhere).data()).first == MPOL_DEFAULT);
  const auto [mode, nodes] = policy_of(bytes_of(near).data());
  CHECK(prefers(mode));
  CHECK(nodes == std::vector{first_node()});
}

TEST_CASE("nodes that are not there, and no nodes, change nothing and are no refusal") {
  const NodeMemory memory(kMiB, -1, "a test");
  const int before = policy_of(bytes_of(memory).data()).first;
  StderrCapture capture;
  const std::vector<std::vector<int>> wrong{{}, {-1}, {1023}, {1'000'000}, {0, 1'000'000}};
  for (const auto& nodes : wrong) {
    place_pages({bytes_of(memory), nodes});
    move_pages_to({bytes_of(memory), nodes});
  }
  place_pages({{}, wrong[1]});
  CHECK(capture.text().empty());
  CHECK(policy_of(bytes_of(memory).data()).first == before);
  if (before >= 0) CHECK(policy_refusal().empty());  // else other tests have been refused a policy
}

TEST_CASE("pages are counted where they are") {
  if (!has_policies()) return;
  const std::size_t touched = 100, size = 300;
  const NodeMemory memory(size * page_bytes(), -1, "a test");
  const auto bytes = memory.as<std::byte>();
  for (std::size_t page = 0; page < touched; ++page) bytes[page * page_bytes()] = std::byte{1};
  const std::vector here{node_of(bytes.data())}, other{here[0] + 1}, both{other[0], here[0]};
  const auto count = [&](const std::vector<int>& wanted, std::size_t most = 4096) {
    const PlacedMemory placed{bytes, wanted};
    return count_pages({&placed, 1}, most);
  };
  const auto near = count(here);
  CHECK(near.bytes == size * page_bytes());
  CHECK(near.pages == std::map<int, std::uint64_t>{{here[0], touched}});
  CHECK(near.elsewhere == 0);
  CHECK(count(other).elsewhere == touched);
  CHECK(count(both).elsewhere == 0);
  CHECK(count({}).elsewhere == 0);
  CHECK(count(other, 30).elsewhere == touched);  // every tenth page
  CHECK(count(other, 30).pages == near.pages);
  // Two parts, each with its own nodes.
  const std::vector<PlacedMemory> parts{{bytes.first(30 * page_bytes()), here},
                                        {bytes.subspan(30 * page_bytes()), other}};
  CHECK(count_pages(parts).elsewhere == touched - 30);
  CHECK(count_pages(parts).pages == near.pages);
  auto sum = near;
  sum += count(other);
  CHECK(sum.bytes == 2 * size * page_bytes());
  CHECK(sum.pages.at(here[0]) == 2 * touched);
  CHECK(sum.elsewhere == touched);
  CHECK(count_pages({}).pages.empty());
}

TEST_CASE("a huge page counts as all pages that it takes the place of") {
  if (!has_policies()) return;
  const NodeMemory memory(8 * kMiB, -1, "a test");
  const auto bytes = memory.as<std::byte>();
  for (std::size_t i = 0; i < bytes.size(); i += page_bytes()) bytes[i] = std::byte{1};
  const PlacedMemory placed{bytes, {}};
  CHECK(count_pages({&placed, 1}).pages.at(node_of(bytes.data())) == bytes.size() / page_bytes());
}

TEST_CASE("what is moved stays as it was, and is where it should be") {
  const NodeMemory memory(3 * kMiB, -1, "a test");
  const auto data = memory.as<std::uint32_t>();
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint32_t>(i * 2654435761U);
  const std::vector nodes{first_node()};
  move_pages_to({bytes_of(memory).subspan(100), nodes});
  for (std::size_t i = 0; i < data.size(); ++i)
    REQUIRE(data[i] == static_cast<std::uint32_t>(i * 2654435761U));
  const PlacedMemory placed{bytes_of(memory), nodes};
  CHECK(count_pages({&placed, 1}).elsewhere == 0);
}

TEST_CASE("a node has the pages that the system says") {
  const NodePages found = node_pages(first_node());
  CHECK(found.free <= found.total);
  for (const auto& huge : found.huge) CHECK((huge.bytes > page_bytes() && huge.free <= huge.total));
  CHECK(node_pages(1'000'000).total == 0);
}

/// Lets these system calls fail with EPERM in this process, as container engines do. False: it cannot.
bool refuse(const std::vector<unsigned>& calls) {
  std::vector<sock_filter> steps{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)}};
  for (std::size_t i = 0; i < calls.size(); ++i)
    steps.push_back({BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint8_t>(calls.size() - i), 0, calls[i]});
  steps.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
  steps.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM});
  sock_fprog program{static_cast<unsigned short>(steps.size()), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_CASE("a refused policy is remembered, nothing fails, and libnuma prints nothing") {
  if (!has_policies()) return;
  const StderrCapture capture;
  const pid_t child = fork();
  if (child == 0) {
    const int node = first_node();
    if (!refuse({SYS_mbind, SYS_set_mempolicy, SYS_move_pages})) _exit(77);
    const NodeMemory memory(4 * kMiB, node, "a test");
    memory.as<std::byte>().back() = std::byte{1};
    const std::vector nodes{node, node};
    move_pages_to({bytes_of(memory), nodes});
    const PlacedMemory placed{bytes_of(memory), nodes};
    const auto count = count_pages({&placed, 1});
    const bool right = policy_refusal() == "Operation not permitted" && count.pages.empty() &&
                       count.bytes == memory.bytes() && lseek(2, 0, SEEK_END) == 0;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) return;  // this system has no filters
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(policy_refusal().empty());
}

}  // namespace
}  // namespace edgewire::topology
