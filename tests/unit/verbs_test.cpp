// What the RDMA backend does beyond the contract. Needs an RDMA device; tests/lab/rdma-vm has one.
#include <doctest/doctest.h>

#include <cstring>

#include "transport_fixture.h"

namespace edgewire::transport {
namespace {

/// Says that a test is skipped, and why, where there is no device.
bool is_usable() {
  for (const Backend& backend : backends()) {
    if (backend.name != "verbs" || backend.usable) continue;
    const std::string text = "skipped: " + backend.reason;
    MESSAGE(text);
    return false;
  }
  return true;
}

const Subject kVerbs{"verbs", 0};

void until_failed(const Endpoint& me) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (me.transport->poll()) {
    me.transport->wait(std::chrono::milliseconds(5));
    REQUIRE(std::chrono::steady_clock::now() < deadline);
  }
}

TEST_CASE("the card refuses a write outside the part of its sender") {
  if (!is_usable()) return;
  const Job job = make_job(kVerbs, 2, 4096);
  const auto source = job[0]->transport->send_memory(4096);
  std::memset(source.data(), 1, source.size());
  job[0]->write(0, 1, 1, source);  // ends a byte behind its part, in that of rank 1
  job[0]->transport->ring_doorbell(0);
  until_failed(*job[0]);
  CHECK(job[0]->health.peer() == 1);
  CHECK(job[0]->health.message() ==
        "rank 1 was lost over rxe0 port 1: it refuses a write outside this process's part of its region");
  CHECK(job[1]->part_of(1)[0] == std::byte{0});
}

TEST_CASE("a write from memory that is not registered is refused here") {
  if (!is_usable()) return;
  const Job job = make_job(kVerbs, 2, 4096);
  const std::vector<std::byte> foreign(100);
  CHECK_FALSE(job[0]->transport->write(0, 1, 0, foreign));
  CHECK(job[0]->health.message() == "a write comes from memory that was not registered");
}

TEST_CASE("offers of another run are refused, and keys do not travel in the clear") {
  if (!is_usable()) return;
  std::vector<std::unique_ptr<Endpoint>> job;
  std::vector<std::string> blobs;
  for (int rank = 0; rank < 2; ++rank) {
    auto made = std::make_unique<Endpoint>();
    made->settings = {rank, 2, 1, 1, std::string(32, rank == 0 ? 'a' : 'b'), "", 2, &made->health};
    made->transport = create("verbs", made->settings);
    const std::vector<Transport::Part> parts{{0, 64}, {64, 64}};
    made->transport->expose(128, parts);
    blobs.push_back(made->transport->blob());
    job.push_back(std::move(made));
  }
  CHECK(blobs[0].find("EWVERB") == blobs[0].npos);
  CHECK_THROWS_WITH_AS(job[0]->transport->connect(blobs),
                       "rank 1 cannot be connected over verbs: it has another secret", Error);
}

TEST_CASE("a peer that never comes is named within the timeout") {
  if (!is_usable()) return;
  std::vector<std::unique_ptr<Endpoint>> job;
  std::vector<std::string> blobs;
  for (int rank = 0; rank < 2; ++rank) {
    auto made = std::make_unique<Endpoint>();
    made->settings = {rank, 2, 1, 1, std::string(32, 'a'), "", 2, &made->health};
    made->transport = create("verbs", made->settings);
    const std::vector<Transport::Part> parts{{0, 64}, {64, 64}};
    made->transport->expose(128, parts);
    blobs.push_back(made->transport->blob());
    job.push_back(std::move(made));
  }
  job[1]->transport.reset();
  const auto start = std::chrono::steady_clock::now();
  std::string said;
  try {
    job[0]->transport->connect(blobs);
  } catch (const Error& error) {
    said = error.what();
  }
  CHECK(said.starts_with("rank 1 "));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(4));
}

TEST_CASE("more signals than credits arrive, whoever polls") {
  if (!is_usable()) return;
  constexpr std::uint64_t kSignals = 1000;
  const Job job = make_job(kVerbs, 2, 64);
  parallel(2, [&](int rank) {
    Endpoint& me = *job[static_cast<std::size_t>(rank)];
    for (std::uint64_t count = 1; count <= kSignals; ++count) {
      me.signal(0, 1 - rank, 0, count);
      me.transport->ring_doorbell(0);  // each for itself: none is merged with the next
    }
    me.until([&] { return me.transport->signalled(1 - rank, 0) == kSignals; });
  });
  CHECK(job[0]->transport->counters().frame_bytes == 8 * kSignals);
}

TEST_CASE("signals behind one doorbell are merged when nothing lies between them") {
  if (!is_usable()) return;
  const Job job = make_job(kVerbs, 2, 64);
  for (const std::uint64_t count : {7U, 9U, 8U}) job[0]->signal(0, 1, 0, count);
  job[0]->transport->ring_doorbell(0);
  job[1]->until([&] { return job[1]->transport->signalled(0, 0) == 9; });
  CHECK(job[0]->transport->counters().frame_bytes == 8);
}

}  // namespace
}  // namespace edgewire::transport
