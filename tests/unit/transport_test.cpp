// The conformance suite: what transport.h promises, over every usable backend, bare and with seeded faults.
#include "transport/transport.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "transport_fixture.h"

namespace edgewire::transport {
namespace {

/// Cuts `bytes` into pieces of odd sizes, 1 byte at least, at odd offsets.
std::vector<std::size_t> cut(std::size_t bytes, std::uint64_t seed) {
  std::minstd_rand chance(static_cast<unsigned>(seed + 1));
  std::vector<std::size_t> pieces;
  while (bytes > 0) {
    const std::size_t limit = chance() % 3 == 0 ? 3 : 9000;
    pieces.push_back(std::min<std::size_t>(1 + chance() % limit, bytes));
    bytes -= pieces.back();
  }
  return pieces;
}

/// `rounds` of all to all on one lane: everyone fills its place of the round's parity at every peer, in
/// pieces, and signals; then waits for all others and looks at what they wrote.
void exchange(Endpoint& me, int lane, std::size_t lane_offset, std::size_t bytes, std::uint64_t rounds) {
  const int size = me.settings.size;
  const std::span<std::byte> source = me.transport->send_memory(2 * bytes);
  std::vector<std::uint64_t> written(static_cast<std::size_t>(size));
  std::vector<std::array<std::uint64_t, 2>> busy(static_cast<std::size_t>(size));
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const std::size_t parity = round % 2;
    const auto mine = source.subspan(parity * bytes, bytes);
    // The source of two rounds ago must be free again.
    for (int p = 0; p < size; ++p)
      if (p != me.settings.rank)
        me.until(
            [&] { return me.transport->completed(lane, p) >= busy[static_cast<std::size_t>(p)][parity]; });
    fill(mine, round + static_cast<std::uint64_t>(me.settings.rank) * 100 + static_cast<std::uint64_t>(lane));
    for (int p = 0; p < size; ++p) {
      if (p == me.settings.rank) continue;
      std::size_t at = 0;
      for (const std::size_t piece : cut(bytes, round)) {
        me.write(lane, p, me.owned_part() + lane_offset + parity * bytes + at, mine.subspan(at, piece));
        at += piece;
        ++written[static_cast<std::size_t>(p)];
      }
      busy[static_cast<std::size_t>(p)][parity] = written[static_cast<std::size_t>(p)];
      me.signal(lane, p, lane, round);
    }
    me.transport->ring_doorbell(lane);
    for (int p = 0; p < size; ++p) {
      if (p == me.settings.rank) continue;
      me.until([&] { return me.transport->signalled(p, lane) >= round; });
      const auto theirs = me.part_of(p).subspan(lane_offset + parity * bytes, bytes);
      require(
          is_filled(theirs, round + static_cast<std::uint64_t>(p) * 100 + static_cast<std::uint64_t>(lane)),
          fmt::format("rank {} sees wrong bytes of rank {} in round {}", me.settings.rank, p, round));
    }
  }
  // Everything was sent when this ends, so that nobody waits for a process that no longer polls.
  for (int p = 0; p < size; ++p)
    if (p != me.settings.rank)
      me.until([&] { return me.transport->completed(lane, p) == written[static_cast<std::size_t>(p)]; });
}

TEST_CASE("a signal comes after all earlier writes, in both parities") {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.label());
    for (const int size : {2, 4}) {
      constexpr std::size_t kBytes = 20'011;
      const Job job = make_job(subject, size, 2 * kBytes);
      CHECK_NOTHROW(parallel(
          size, [&](int rank) { exchange(*job[static_cast<std::size_t>(rank)], 0, 0, kBytes, 40); }));
    }
  }
}

TEST_CASE("lanes of several threads do not disturb each other" * doctest::test_suite("schedules")) {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.label());
    constexpr std::size_t kBytes = 5'003;
    constexpr int kLanes = 3;
    const Job job = make_job(subject, 2, kLanes * 2 * kBytes, kLanes, kLanes);
    CHECK_NOTHROW(parallel(2 * kLanes, [&](int i) {
      exchange(*job[static_cast<std::size_t>(i % 2)], i / 2, static_cast<std::size_t>(i / 2) * 2 * kBytes,
               kBytes, 40);
    }));
  }
}

TEST_CASE("source bytes may be reused when completed says so") {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.label());
    constexpr std::size_t kBytes = 4096;
    constexpr std::size_t kSlots = 300;
    const Job job = make_job(subject, 2, kSlots * kBytes);
    const auto source = job[0]->transport->send_memory(kBytes);
    for (std::size_t i = 0; i < kSlots; ++i) {
      fill(source, i);
      job[0]->write(0, 1, i * kBytes, source);
      job[0]->transport->ring_doorbell(0);
      job[0]->until([&] { return job[0]->transport->completed(0, 1) == i + 1; });
      job[1]->progress();
    }
    job[0]->signal(0, 1, 0, 1);
    job[0]->transport->ring_doorbell(0);
    parallel(2, [&](int rank) {
      job[static_cast<std::size_t>(rank)]->until([&] { return job[1]->transport->signalled(0, 0) == 1; });
    });
    for (std::size_t i = 0; i < kSlots; ++i)
      REQUIRE(is_filled(job[1]->part_of(0).subspan(i * kBytes, kBytes), i));
  }
}

TEST_CASE("a consumer that does not poll fills the queue, and all arrives once it does") {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.label());
    constexpr std::size_t kBytes = 256 * 1024;
    constexpr std::size_t kWrites = 1500;  // more than any backend may keep
    const Job job = make_job(subject, 2, kBytes);
    const auto source = job[0]->transport->send_memory(kBytes);
    fill(source, 7);
    std::size_t accepted = 0;
    for (int refusals = 0; accepted < kWrites && refusals < 200;) {
      if (job[0]->transport->write(0, 1, 0, source)) {
        ++accepted;
      } else {
        ++refusals;
        job[0]->progress();
      }
    }
    CHECK(accepted > 100);
    if (subject.backend.ends_with("tcp")) CHECK(accepted < kWrites);
    CHECK(job[0]->transport->takes_more(0, 1) == !subject.backend.ends_with("tcp"));
    parallel(2, [&](int rank) {
      if (rank == 0) {
        job[0]->signal(0, 1, 0, accepted);
        job[0]->transport->ring_doorbell(0);
      }
      job[static_cast<std::size_t>(rank)]->until([&] {
        return job[1]->transport->signalled(0, 0) == accepted &&
               (rank == 1 ||
                (job[0]->transport->completed(0, 1) == accepted && job[0]->transport->takes_more(0, 1)));
      });
    });
    CHECK(is_filled(job[1]->part_of(0), 7));
  }
}

TEST_CASE("large and unaligned writes arrive whole") {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.label());
    constexpr std::size_t kBytes = 48 * 1024 * 1024 + 1;
    const Job job = make_job(subject, 2, kBytes + 3);
    const auto source = job[0]->transport->send_memory(kBytes);
    fill(source, 11);
    parallel(2, [&](int rank) {
      if (rank == 0) {
        job[0]->write(0, 1, 3, source);
        job[0]->write(0, 1, 0, source.first(1));
        job[0]->write(0, 1, 1, source.first(0));
        job[0]->signal(0, 1, 0, 1);
        job[0]->transport->ring_doorbell(0);
      }
      job[static_cast<std::size_t>(rank)]->until([&] { return job[1]->transport->signalled(0, 0) == 1; });
    });
    CHECK(is_filled(job[1]->part_of(0).subspan(3), 11));
    CHECK(job[1]->part_of(0)[0] == source[0]);
    CHECK(job[1]->part_of(0)[1] == std::byte{0});
    job[0]->until([&] { return job[0]->transport->completed(0, 1) == 3; });
  }
}

TEST_CASE("signals are absolute and never fall") {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.label());
    const Job job = make_job(subject, 2, 64, 1, 3);
    for (const std::uint64_t count : {5U, 3U, 5U}) job[0]->signal(0, 1, 1, count);
    job[0]->signal(0, 1, 2, 1);
    job[0]->transport->ring_doorbell(0);
    while (job[1]->transport->signalled(0, 2) != 1) {
      job[0]->progress();
      job[1]->progress();
    }
    CHECK(job[1]->transport->signalled(0, 1) == 5);
    CHECK(job[1]->transport->signalled(0, 0) == 0);
    CHECK(job[0]->transport->signalled(1, 1) == 0);
  }
}

TEST_CASE("bytes are counted for the peer that they went to, on every lane") {
  for (const Subject& subject : subjects()) {
    if (subject.seed != 0) continue;
    CAPTURE(subject.label());
    const Job job = make_job(subject, 3, 64, 2, 2);
    job[0]->signal(0, 1, 0, 1);
    job[0]->signal(1, 1, 1, 1);
    const auto source = job[0]->transport->send_memory(8);
    while (!job[0]->transport->write(1, 2, 0, source)) job[0]->progress();
    CHECK(job[0]->transport->frame_bytes_to(0) == 0);
    CHECK(job[0]->transport->frame_bytes_to(2) >= 8);
    CHECK(job[0]->transport->frame_bytes_to(1) + job[0]->transport->frame_bytes_to(2) ==
          job[0]->transport->counters().frame_bytes);
    if (subject.backend == "tcp") CHECK(job[0]->transport->frame_bytes_to(1) > 0);
  }
}

TEST_CASE("mapped memory can be stored to") {
  const Job job = make_job({"shm", 0}, 2, 64);
  std::byte* at = job[0]->transport->remote_ptr(1, 17);
  REQUIRE(at != nullptr);
  *at = std::byte{42};
  job[0]->transport->stored(0, 1, 1);
  job[0]->signal(0, 1, 0, 1);
  job[1]->until([&] { return job[1]->transport->signalled(0, 0) == 1; });
  CHECK(job[1]->region[17] == std::byte{42});
  CHECK(job[0]->transport->counters().payload_bytes == 1);
  CHECK(job[0]->transport->frame_bytes_to(1) == 1);
  CHECK(job[0]->transport->frame_bytes_to(0) == 0);
  CHECK(job[0]->transport->remote_ptr(1, 128) == nullptr);
}

TEST_CASE("a peer that ends in good order is no failure, and what it sent arrives") {
  for (const Subject& subject : subjects()) {
    if (subject.seed != 0) continue;  // a held signal is lost with its sender
    CAPTURE(subject.label());
    constexpr std::size_t kBytes = 1 << 20;
    Job job = make_job(subject, 3, kBytes);
    const auto source = job[0]->transport->send_memory(kBytes);
    fill(source, 3);
    job[1]->signal(0, 0, 0, 1);  // stays unread
    job[1]->transport->ring_doorbell(0);
    job[1]->progress();
    job[0]->write(0, 1, 0, source);
    job[0]->signal(0, 1, 0, 1);
    job[0]->transport->ring_doorbell(0);
    parallel(2, [&](int i) {
      if (i == 0) job[0]->transport.reset();
      if (i == 1) job[1]->until([&] { return job[1]->transport->signalled(0, 0) == 1; });
    });
    CHECK(is_filled(job[1]->part_of(0), 3));
    // What the others send each other after the end arrives as before.
    job[1]->signal(0, 2, 0, 1);
    job[1]->transport->ring_doorbell(0);
    CHECK_NOTHROW(job[2]->until([&] {
      job[1]->progress();
      return job[2]->transport->signalled(1, 0) == 1;
    }));
    for (int polls = 0; polls < 10; ++polls) {
      CHECK(job[1]->transport->poll());
      CHECK(job[2]->transport->poll());
    }
  }
}

TEST_CASE("two transports live side by side in one process") {
  constexpr std::size_t kBytes = 3'001;
  const Job shm = make_job({"shm", 0}, 2, 2 * kBytes);
  const Job tcp = make_job({"tcp", 0}, 2, 2 * kBytes);
  CHECK_NOTHROW(parallel(4, [&](int i) {
    const Job& job = i < 2 ? shm : tcp;
    exchange(*job[static_cast<std::size_t>(i % 2)], 0, 0, kBytes, 100);
  }));
}

TEST_CASE("counters tell payload, frames and wire bytes") {
  for (const Subject& subject : subjects()) {
    CAPTURE(subject.label());
    const Job job = make_job(subject, 2, 5000);
    const auto source = job[0]->transport->send_memory(5000);
    job[0]->write(0, 1, 0, source);
    job[0]->write(0, 1, 0, source.first(1));
    job[0]->signal(0, 1, 0, 1);
    job[0]->transport->ring_doorbell(0);
    for (int polls = 0; polls < 30; ++polls) job[0]->progress();
    const Counters counters = job[0]->transport->counters();
    CHECK(counters.writes == 2);
    CHECK(counters.payload_bytes == 5001);
    const std::size_t signal_bytes = subject.verbs.immediates ? 8 : 16;
    // Three headers, and the payloads filled up to whole units of 64 bytes.
    const std::size_t more = subject.backend.ends_with("tcp") ? 3 * 64 + (5056 - 5000) + (64 - 1)
                             : subject.backend == "shm"       ? 0
                                                              : signal_bytes;
    CHECK(counters.frame_bytes == 5001 + more);
    CHECK(counters.wire_bytes == job[0]->transport->wire_bytes_of(counters.frame_bytes));
    CHECK(counters.refused_connections == 0);
    CHECK(counters.refused_frames == 0);
    CHECK(job[1]->transport->counters().payload_bytes == 0);
  }
}

TEST_CASE("inside a host shared memory, between hosts TCP, in one job") {
  const Job job = make_job({"shm+tcp", 0}, 3, 100);  // 0 | 1 2
  CHECK(job[1]->transport->remote_ptr(2, 7) != nullptr);
  CHECK(job[1]->transport->remote_ptr(0, 7) == nullptr);
  CHECK(job[0]->transport->remote_ptr(1, 7) == nullptr);
  const auto source = job[1]->transport->send_memory(100);
  for (const int peer : {0, 2}) job[1]->write(0, peer, 100, source);
  job[1]->transport->ring_doorbell(0);
  CHECK(job[1]->transport->counters().payload_bytes == 200);
  CHECK(job[1]->transport->counters().frame_bytes == 192);
  CHECK(job[1]->transport->frame_bytes_to(0) == 192);
  CHECK(job[1]->transport->frame_bytes_to(2) == 0);
  Health health;
  CHECK_THROWS_AS(create("shm+tcp", {0, 2, 1, 1, std::string(32, 's'), "", 1, &health, {}, {}, {}}), Error);
}

TEST_CASE("shared memory wakes a peer once a doorbell, however many signals stand before it") {
  for (const char* backend : {"shm", "shm+tcp"}) {
    CAPTURE(backend);
    const Job job = make_job({backend, 0}, 3, 100);  // shm+tcp: 0 | 1 2
    const auto& receiver = *job[2]->transport;
    const std::uint32_t before = receiver.arrivals();
    for (std::uint64_t count = 1; count <= 100; ++count) {
      job[1]->signal(0, 2, 0, count);
      REQUIRE(receiver.signalled(1, 0) == count);  // who polls need not wait for the doorbell
    }
    CHECK(receiver.arrivals() == before);
    job[1]->transport->ring_doorbell(0);
    CHECK(receiver.arrivals() == before + 1);
    job[1]->transport->ring_doorbell(0);
    CHECK(receiver.arrivals() == before + 1);
  }
}

TEST_CASE("backends are listed, and those that cannot be used say why") {
  Health health;
  Settings settings;
  settings.health = &health;
  for (const Backend& backend : backends()) {
    CAPTURE(backend.name);
    CHECK(backend.usable == backend.reason.empty());
    if (!backend.usable) CHECK_THROWS_AS(create(backend.name, settings), Error);
  }
  CHECK_THROWS_WITH_AS(create("pigeon", settings),
                       "there is no transport 'pigeon' (known: shm, tcp, verbs, dpdk)", Error);
}

TEST_CASE("memory that is not on this host is refused in words") {
  Endpoint me;
  me.settings = {0, 2, 1, 1, std::string(32, 's'), "", 1, &me.health, {}, {}, {}};
  const auto transport = create("shm", me.settings);
  transport->expose(100, {});
  std::string foreign = transport->blob();
  foreign[0] = static_cast<char>(foreign[0] ^ 0x55);  // another process
  const std::vector<std::string> blobs{transport->blob(), foreign};
  CHECK_THROWS_AS(transport->connect(blobs), Error);
  std::string wrong_token = transport->blob();
  wrong_token.back() = static_cast<char>(wrong_token.back() ^ 1);
  const std::vector<std::string> tokens{transport->blob(), wrong_token};
  CHECK_THROWS_WITH_AS(
      transport->connect(tokens),
      "cannot share memory with rank 1: it is not on this host, or is in another container (use "
      "--transport tcp)",
      Error);
}

}  // namespace
}  // namespace edgewire::transport
