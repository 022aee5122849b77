#include "channel/region_plan.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstring>

#include "channel/ring.h"
#include "launch/start.h"
#include "stderr_capture.h"
#include "transport_fixture.h"

namespace edgewire::channel {
namespace {

using transport::require;

/// Bytes of a part that `writer` fills at `owner`: any sizes, and sometimes none.
std::size_t bytes_of(int part, int owner, int writer) {
  return owner == writer ? 0 : static_cast<std::size_t>((part * 7 + owner * 3 + writer) % 5 * 37);
}

std::vector<std::size_t> sizes(int part, int owner, int size) {
  std::vector<std::size_t> all;
  for (int p = 0; p < size; ++p) all.push_back(bytes_of(part, owner, p));
  return all;
}

/// Three processes fill all parts at all peers; then every byte of every region must be its writer's.
void fill_parts(launch::Bootstrap& bootstrap, transport::Transport& link) {
  const int me = bootstrap.rank(), size = bootstrap.size();
  RegionPlan plan(size);
  const std::array<std::size_t, 3> alignments{64, 4096, 4};
  std::array<std::size_t, 3> parts{};
  for (int i = 0; i < 3; ++i)
    parts[i] = plan.add(fmt::format("part {}", i), sizes(i, me, size), alignments[i]);
  const Region region = plan.expose(bootstrap, link);
  for (int p = 0; p < size; ++p)
    for (int i = 0; i < 3; ++i) {
      require(region.offset(parts[i], p) % alignments[i] == 0, "a part is not aligned");
      const std::size_t bytes = region.remote_bytes(parts[i], p);
      require(bytes == bytes_of(i, p, me), "the peer tells another size");
      if (bytes > 0)
        std::memset(link.remote_ptr(p, region.remote_offset(parts[i], p)), 1 + 3 * me + i, bytes);
    }
  bootstrap.allgather("");
  std::size_t filled = 0, expected = 0;
  for (const std::byte byte : region.bytes()) filled += byte != std::byte{0} ? 1 : 0;
  for (int p = 0; p < size; ++p)
    for (int i = 0; i < 3; ++i) {
      expected += bytes_of(i, me, p);
      for (const std::byte byte : region.bytes().subspan(region.offset(parts[i], p), bytes_of(i, me, p)))
        require(byte == static_cast<std::byte>(1 + 3 * p + i), "a part has bytes of another one");
    }
  require(filled == expected, "somebody wrote outside its part");
}

/// As `body`, in three processes over shared memory. Returns what they print.
std::string run_three(const std::function<void(launch::Bootstrap&, transport::Transport&)>& body,
                      int& status) {
  StderrCapture capture;
  launch::StartOptions options;
  options.processes = 3;
  options.peer_timeout_s = 60;
  status = launch::start(options, [&](launch::Bootstrap& bootstrap) {
    const auto link = transport::create(
        "shm", {bootstrap.rank(), bootstrap.size(), 1, 1, bootstrap.secret(), "", 60, &bootstrap.health()});
    body(bootstrap, *link);
    bootstrap.allgather("");
  });
  return capture.text();
}

TEST_CASE("every part has its own bytes, and both sides know where they are") {
  int status = 0;
  const std::string text = run_three(fill_parts, status);
  CAPTURE(text);
  CHECK(status == 0);
}

TEST_CASE("a process with other parts is named") {
  int status = 0;
  const std::string text = run_three(
      [](launch::Bootstrap& bootstrap, transport::Transport& link) {
        RegionPlan plan(bootstrap.size());
        plan.add("slots", std::vector<std::size_t>(3, 64));
        if (bootstrap.rank() != 2) plan.add("rings", std::vector<std::size_t>(3, 64));
        plan.expose(bootstrap, link);
      },
      status);
  CAPTURE(text);
  CHECK(status == 1);
  // The first one that notices it ends the job: rank 2 or another one.
  const bool named =
      text.find("rank 2 has another part 1 in its region: 'none' against 'rings' here") != text.npos;
  CHECK((named || text.find("has another part 1 in its region: 'rings' against 'none' here") != text.npos));
}

TEST_CASE("a process with rings of another size is named") {
  int status = 0;
  const std::string text = run_three(
      [](launch::Bootstrap& bootstrap, transport::Transport& link) {
        const std::size_t ring_bytes = bootstrap.rank() == 1 ? 1024 : 512;
        const RingSettings settings{bootstrap.rank(), 3, 1, 0, 8, ring_bytes};
        RegionPlan plan(3);
        const std::size_t part = plan.add("rings", std::vector<std::size_t>(3, settings.part_bytes()));
        const Region region = plan.expose(bootstrap, link);
        bootstrap.allgather("");
        try {
          ring_places(region, part, settings);
        } catch (const Error& error) {
          const bool first = bootstrap.rank() != 1;
          require(error.what() == std::string(first ? "rank 1 has 1024 bytes for our rings, not 512"
                                                    : "rank 0 has 512 bytes for our rings, not 1024"),
                  error.what());
          return;
        }
        throw Error("nobody was named");
      },
      status);
  CAPTURE(text);
  CHECK(status == 0);
}

TEST_CASE("a part that makes no sense is refused") {
  RegionPlan plan(2);
  CHECK_THROWS_AS(plan.add("one size for two peers", {64}), Error);
  CHECK_THROWS_AS(plan.add("no alignment", {64, 64}, 3), Error);
  CHECK_THROWS_AS(plan.add("a name of more than 23 characters", {64, 64}), Error);
  CHECK(plan.add("good", {64, 0}) == 0);
}

}  // namespace
}  // namespace edgewire::channel
