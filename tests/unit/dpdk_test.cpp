// What the dpdk backend does beyond the contract. Needs ports: tests/end_to_end/test_dpdk.py runs it where
// there are some.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "growing_timeout.h"
#include "transport_fixture.h"

namespace edgewire::transport {
namespace {

/// Says that a test is skipped, and why, where there is no port.
bool has_ports() {
  if (dpdk_ports() != nullptr) return true;
  MESSAGE("skipped: no DPDK ports here; end to end, test_dpdk.py makes some");
  return false;
}

const Subject kDpdk{"dpdk", 0};

std::unique_ptr<Endpoint> make_endpoint(int rank, char secret, double peer_timeout_s = 60) {
  auto made = std::make_unique<Endpoint>();
  made->settings = {rank, 2, 1, 1, std::string(32, secret), "", peer_timeout_s, &made->health};
  made->settings.dpdk = dpdk_choice(rank);
  made->transport = create("dpdk", made->settings);
  const std::vector<Transport::Part> parts{{0, 64}, {64, 64}};
  made->transport->expose(128, parts);
  return made;
}

TEST_CASE("a write outside the part of its sender is refused by the receiver") {
  if (!has_ports()) return;
  const Job job = make_job(kDpdk, 2, 4096);
  const auto source = job[0]->transport->send_memory(4096);
  std::memset(source.data(), 1, source.size());
  job[0]->write(0, 1, 4000, source);  // ends behind its part, in that of rank 1
  job[0]->transport->ring_doorbell(0);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (job[1]->transport->poll()) REQUIRE(std::chrono::steady_clock::now() < deadline);
  CHECK(job[1]->health.peer() == 0);
  CHECK(job[1]->health.message().starts_with("rank 0 sent "));
  CHECK(job[1]->health.message().ends_with("outside its part"));
  CHECK(job[1]->transport->counters().refused_frames >= 1);
  const auto owned = job[1]->part_of(1);
  CHECK(std::all_of(owned.begin(), owned.end(), [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST_CASE("of writes to the same place the last one stays, whatever the link does") {
  if (!has_ports()) return;
  constexpr std::size_t kBytes = 5000;
  constexpr int kRounds = 300;
  const Job job = make_job(kDpdk, 2, kBytes);
  const auto source = job[0]->transport->send_memory(256 * kBytes);
  for (std::size_t i = 0; i < 256; ++i) std::memset(source.data() + i * kBytes, static_cast<int>(i), kBytes);
  for (int round = 1; round <= kRounds; ++round) {
    for (const int value : {round * 7, round * 11, round})
      job[0]->write(0, 1, 0, source.subspan(static_cast<std::size_t>(value % 256) * kBytes, kBytes));
    job[0]->signal(0, 1, 0, static_cast<std::uint64_t>(round));
    job[0]->transport->ring_doorbell(0);
    job[1]->until([&] { return job[1]->transport->signalled(0, 0) == static_cast<std::uint64_t>(round); });
    const auto place = job[1]->part_of(0);
    REQUIRE(std::all_of(place.begin(), place.end(),
                        [&](std::byte byte) { return byte == std::byte(round % 256); }));
  }
}

TEST_CASE("dpdk offers of another run are refused, and do not travel in the clear") {
  if (!has_ports()) return;
  const auto one = make_endpoint(0, 'a'), other = make_endpoint(1, 'b');
  const std::vector<std::string> blobs{one->transport->blob(), other->transport->blob()};
  CHECK(blobs[0].find("EWDPDK") == blobs[0].npos);
  CHECK_THROWS_WITH_AS(one->transport->connect(blobs),
                       "rank 1 cannot be connected over dpdk: it has another secret", Error);
}

TEST_CASE("a dpdk peer that never comes is named within the timeout") {
  if (!has_ports()) return;
  const auto one = make_endpoint(0, 'a', 2), other = make_endpoint(1, 'a', 2);
  const std::vector<std::string> blobs{one->transport->blob(), other->transport->blob()};
  other->transport.reset();
  std::string said;
  try {
    one->transport->connect(blobs);
  } catch (const Error& error) {
    said = error.what();
  }
  CHECK(said.starts_with("rank 1 has "));
}

TEST_CASE("a dpdk peer is silent only when it says nothing, not when there is nothing to say") {
  if (!has_ports()) return;
  CHECK(with_growing_timeout(0.5, [](double timeout_s) {
    std::vector<std::unique_ptr<Endpoint>> job;
    std::vector<std::string> blobs;
    for (int rank = 0; rank < 2; ++rank) {
      job.push_back(make_endpoint(rank, 'a', timeout_s));
      blobs.push_back(job.back()->transport->blob());
    }
    try {
      parallel(2, [&](int rank) { job[static_cast<std::size_t>(rank)]->transport->connect(blobs); });
    } catch (const Error&) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(3 * timeout_s));
    if (!job[0]->transport->poll() || !job[1]->transport->poll()) return false;
    job[1]->transport.reset();  // in good order
    std::this_thread::sleep_for(std::chrono::duration<double>(2 * timeout_s));
    return job[0]->transport->poll();
  }));
}

}  // namespace
}  // namespace edgewire::transport
