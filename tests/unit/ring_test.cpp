// The conformance suite of rings, over every usable backend, bare and with seeded faults.
#include "channel/ring.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <random>

#include "launch/start.h"
#include "schedule.h"
#include "stderr_capture.h"
#include "transport_fixture.h"

namespace edgewire::channel {
namespace {

using transport::Endpoint;
using transport::require;
using transport::Subject;

constexpr std::size_t kGuard = 64;  ///< behind the rings of a peer; nobody may write there

/// Which rings a record came through, and its place among the records of its superstep there.
struct Origin {
  int sender, receiver, lane;
  std::uint64_t superstep;
  std::uint32_t number;

  /// Word `word` of the record: the first one is its number, the others depend on all that is known of it.
  std::uint32_t word(std::size_t word) const {
    if (word == 0) return number;
    const auto mixed = static_cast<std::uint32_t>(((sender * 5 + receiver) * 7 + lane) * 1'000 +
                                                  static_cast<int>(superstep) * 64 + static_cast<int>(word));
    return mixed * 2'654'435'761U + number;
  }
};

void put(std::span<std::byte> record, const Origin& origin) {
  for (std::size_t at = 0; at < record.size(); at += 4) {
    const std::uint32_t word = origin.word(at / 4);
    std::memcpy(&record[at], &word, 4);
  }
}

bool holds(std::span<const std::byte> record, const Origin& origin) {
  for (std::size_t at = 0; at < record.size(); at += 4) {
    const std::uint32_t word = origin.word(at / 4);
    if (std::memcmp(&record[at], &word, 4) != 0) return false;
  }
  return true;
}

/// One process with its rings.
struct Member {
  Endpoint& endpoint;
  RingSettings settings;
  std::vector<std::uint64_t> writes;
  std::unique_ptr<Rings> rings;
  /// [superstep][lane]: records that the lane's thread has taken. It alone counts them.
  mutable std::array<std::array<std::uint32_t, 3>, 8> taken{};

  Member(Endpoint& at, RingSettings chosen, std::vector<RingPlace> places = {})
      : endpoint(at), settings(chosen) {
    settings.rank = at.settings.rank;
    settings.size = at.settings.size;
    writes.resize(static_cast<std::size_t>(settings.size) * static_cast<std::size_t>(settings.lanes));
    for (int p = 0; places.size() < static_cast<std::size_t>(settings.size); ++p)
      places.push_back({static_cast<std::size_t>(p) * at.part_bytes, at.owned_part()});
    rings = std::make_unique<Rings>(*at.transport, at.health, settings, at.region, places, writes);
  }
  int rank() const { return settings.rank; }
  int size() const { return settings.size; }

  /// As many of `count` records as there is room for, from `first` on. Returns their number.
  std::uint32_t send(int lane, int peer, std::uint64_t superstep, std::uint32_t first,
                     std::uint32_t count) const {
    const std::size_t bytes = settings.record_bytes;
    const auto room = rings->reserve(lane, peer);
    const auto fitting = std::min(count, static_cast<std::uint32_t>(room.size() / bytes));
    for (std::uint32_t i = 0; i < fitting; ++i)
      put(room.subspan(i * bytes, bytes), {rank(), peer, lane, superstep, first + i});
    if (fitting > 0) rings->publish(lane, peer, fitting);
    return fitting;
  }
  /// Checks what arrives on a lane; `arrived`: [peer], records of this superstep so far.
  void take(int lane, std::uint64_t superstep, std::vector<std::uint32_t>& arrived) const {
    rings->drain(lane, superstep, [&](int peer, std::span<const std::byte> batch) {
      const std::size_t bytes = settings.record_bytes;
      require(batch.size() % bytes == 0, "part of a record");
      taken[superstep][static_cast<std::size_t>(lane)] += static_cast<std::uint32_t>(batch.size() / bytes);
      for (std::size_t at = 0; at < batch.size(); at += bytes) {
        const Origin expected{peer, rank(), lane, superstep, arrived[static_cast<std::size_t>(peer)]++};
        require(holds(batch.subspan(at, bytes), expected),
                fmt::format("rank {} got a wrong record {} of rank {} on lane {} in superstep {}", rank(),
                            expected.number, peer, lane, superstep));
      }
    });
  }
  void require_guards() const {
    for (int p = 0; p < size(); ++p)
      for (const std::byte byte : endpoint.part_of(p).subspan(settings.part_bytes()))
        require(byte == std::byte{0}, "somebody wrote behind the rings");
  }
};

struct Group {
  transport::Job job;
  std::vector<std::unique_ptr<Member>> members;
  std::atomic<int> done{0};

  Group(const Subject& subject, int size, const RingSettings& settings)
      : job(transport::make_job(subject, size, settings.part_bytes() + kGuard, settings.lanes,
                                settings.first_kind + process::kinds_for_rings(settings.lanes))) {
    for (auto& endpoint : job) members.push_back(std::make_unique<Member>(*endpoint, settings));
  }
  Member& operator[](int rank) const { return *members[static_cast<std::size_t>(rank)]; }
  void progress() const {
    for (const auto& member : members) member->endpoint.progress();
  }
};

/// What a process says at the end of a superstep.
RingNote note_of(int sender, int lane, std::uint64_t superstep) {
  return {superstep, static_cast<std::uint64_t>(sender), static_cast<std::uint64_t>(lane) << 40};
}

/// Records from one process to another on a lane in a superstep: none, a few, or many times the ring.
std::uint32_t records_of(int sender, int receiver, int lane, std::uint64_t superstep) {
  std::minstd_rand chance(static_cast<unsigned>(sender * 131 + receiver * 17 + lane * 5) +
                          static_cast<unsigned>(superstep) * 1009 + 1);
  chance.discard(3);
  if (superstep == 3) return 0;  // nobody sends anything
  const auto draw = chance() % 4;
  return static_cast<std::uint32_t>(draw == 0 ? 0 : chance() % (draw == 1 ? 5 : 700));
}

/// What the thread of a lane does: sends, ends and drains superstep after superstep.
void run_lane(Group& group, int rank, int lane, std::uint64_t supersteps) {
  const Member& me = group[rank];
  std::minstd_rand chance(static_cast<unsigned>(rank * 10 + lane + 1));
  for (std::uint64_t superstep = 1; superstep <= supersteps; ++superstep) {
    std::vector<std::uint32_t> sent(static_cast<std::size_t>(me.size())), arrived(sent.size());
    const auto send_some = [&](int p) {
      std::uint32_t& done = sent[static_cast<std::size_t>(p)];
      const std::uint32_t left = records_of(rank, p, lane, superstep) - done;
      const std::uint32_t taken =
          me.send(lane, p, superstep, done, std::min(left, 1 + static_cast<std::uint32_t>(chance() % 90)));
      done += taken;
      if (chance() % 8 == 0) me.rings->flush(lane);
      me.take(lane, superstep, arrived);
      return taken > 0;
    };
    me.endpoint.until([&] {
      bool all = true;
      for (int p = 0; p < me.size(); ++p) {
        if (p == rank) continue;
        while (send_some(p)) continue;
        all = all && sent[static_cast<std::size_t>(p)] == records_of(rank, p, lane, superstep);
      }
      return all;
    });
    me.endpoint.until([&] {
      const bool ended = me.rings->end(lane, superstep, note_of(rank, lane, superstep));
      me.take(lane, superstep, arrived);
      return ended;
    });
    me.endpoint.until([&] {
      me.take(lane, superstep, arrived);
      return me.rings->finished(lane, superstep);
    });
    for (int p = 0; p < me.size(); ++p) {
      if (p == rank) continue;
      require(arrived[static_cast<std::size_t>(p)] == records_of(p, rank, lane, superstep),
              "a superstep ended too early or too late");
      require(me.rings->note(lane, p) == note_of(p, lane, superstep), "a note is another one");
    }
    require(!me.rings->finished(lane, superstep + 1) || me.size() == 1, "finished before it began");
    // When all lanes have finished, each thread sees what the others have taken.
    for (; !me.rings->finished(superstep); std::this_thread::yield()) {
      me.rings->flush(lane);
      me.endpoint.progress();
    }
    for (int other = 0; other < me.settings.lanes; ++other) {
      std::uint32_t right = 0;
      for (int p = 0; p < me.size(); ++p) right += p == rank ? 0 : records_of(p, rank, other, superstep);
      require(me.taken[superstep][static_cast<std::size_t>(other)] == right,
              "what another lane has taken is not seen");
    }
  }
  // Goes on, so that nobody waits for a process that no longer polls.
  ++group.done;
  me.endpoint.until([&] {
    me.rings->flush(lane);
    return group.done == me.size() * me.settings.lanes;
  });
}

TEST_CASE("records arrive once, in the order of their sender, in their superstep" *
          doctest::test_suite("schedules")) {
  struct Shape {
    int size, lanes;
    std::size_t record_bytes, ring_bytes;
  };
  for (const Subject& subject : transport::subjects())
    for (const Shape& shape : {Shape{1, 2, 8, 512},
                               {2, 1, 4, 512},
                               {2, 3, 12, 1024},
                               {2, 1, 64, 640},
                               {3, 2, 8, 1 << 20},
                               {4, 1, 52, 4096},
                               {2, 2, 100, 1024},
                               {2, 1, 4096, 1 << 16}}) {
      if (is_scheduled() && shape.size * shape.lanes != 6) continue;
      CAPTURE(subject.label());
      CAPTURE(shape.size);
      CAPTURE(shape.record_bytes);
      Group group(subject, shape.size, {0, 0, shape.lanes, 1, shape.record_bytes, shape.ring_bytes});
      CHECK_NOTHROW(transport::parallel(shape.size * shape.lanes,
                                        [&](int i) { run_lane(group, i % shape.size, i / shape.size, 6); }));
      for (const auto& member : group.members) {
        CHECK_NOTHROW(member->require_guards());
        CHECK(member->rings->finished(6));
      }
    }
}

TEST_CASE("a ring that nobody drains takes what it holds and no more, and goes on when it is drained") {
  for (const Subject& subject : transport::subjects()) {
    CAPTURE(subject.label());
    const RingSettings settings{0, 0, 1, 0, 20, 4096};
    Group group(subject, 2, settings);
    std::uint32_t sent = 0;
    for (int refusals = 0; refusals < 300;) {
      const std::uint32_t taken = group[0].send(0, 1, 1, sent, 7);
      sent += taken;
      refusals += taken == 0 ? 1 : 0;
      group.progress();
    }
    CHECK(sent * 20 <= 4096);
    CHECK(sent * 20 > 3500);  // frames cost less than this
    CHECK(!group[0].rings->end(0, 1));
    CHECK_NOTHROW(group[1].require_guards());
    std::vector<std::uint32_t> arrived(2);
    const std::uint32_t total = 10 * sent;
    while (sent < total || !group[0].rings->end(0, 1)) {
      sent += group[0].send(0, 1, 1, sent, std::min(3U, total - sent));
      group.progress();
      CHECK_NOTHROW(group[1].take(0, 1, arrived));
    }
    while (!group[1].rings->finished(1)) {
      group[0].rings->flush(0);
      group.progress();
      CHECK_NOTHROW(group[1].take(0, 1, arrived));
    }
    CHECK(arrived[0] == total);
  }
}

TEST_CASE("supersteps that follow at once wait for their turn, empty ones, too") {
  for (const Subject& subject : transport::subjects()) {
    CAPTURE(subject.label());
    Group group(subject, 2, {0, 0, 1, 0, 8, 4096});
    constexpr std::array<std::uint32_t, 5> kCounts{3, 0, 0, 40, 1};
    for (std::uint64_t superstep = 1; superstep <= kCounts.size(); ++superstep) {
      const std::uint32_t count = kCounts[superstep - 1];
      for (std::uint32_t sent = 0; sent < count; group.progress())
        sent += group[0].send(0, 1, superstep, sent, count - sent);
      while (!group[0].rings->end(0, superstep)) group.progress();
    }
    for (std::uint64_t superstep = 1; superstep <= kCounts.size(); ++superstep) {
      CHECK(!group[1].rings->finished(superstep));
      std::vector<std::uint32_t> arrived(2);
      while (!group[1].rings->finished(superstep)) {
        group.progress();
        CHECK_NOTHROW(group[1].take(0, superstep, arrived));
      }
      CHECK(arrived[0] == kCounts[superstep - 1]);
    }
    CHECK(!group[1].rings->finished(kCounts.size() + 1));
  }
}

TEST_CASE("the end of a superstep takes 8 bytes, and those of what is said with it") {
  const Group group({"shm", 0}, 2, {0, 0, 1, 0, 8, 4096});
  std::uint64_t superstep = 0;
  for (const auto& [note, bytes] : {std::pair{RingNote{}, 8U},
                                    {RingNote{7}, 12U},
                                    {RingNote{7, 8}, 20U},
                                    {RingNote{~0ULL, 0, ~0ULL}, 32U}}) {
    const std::uint64_t before = group[0].endpoint.transport->counters().payload_bytes;
    while (!group[0].rings->end(0, ++superstep, note)) group.progress();
    CHECK(group[0].endpoint.transport->counters().payload_bytes - before == bytes);
    std::vector<std::uint32_t> arrived(2);
    while (!group[1].rings->finished(superstep)) group[1].take(0, superstep, arrived);
    CHECK(group[1].rings->note(0, 0) == note);
  }
}

TEST_CASE("records leave with a flush, and none is lost behind it") {
  for (const Subject& subject : transport::subjects()) {
    CAPTURE(subject.label());
    Group group(subject, 2, {0, 0, 1, 0, 8, 1 << 20});
    std::vector<std::uint32_t> arrived(2);
    for (std::uint32_t sent = 0; sent < 50;) {
      sent += group[0].send(0, 1, 1, sent, 1);
      do {
        group.progress();
        CHECK_NOTHROW(group[1].take(0, 1, arrived));
      } while (!group[0].rings->flush(0) || arrived[0] < sent);
    }
    CHECK(!group[1].rings->finished(1));
  }
}

TEST_CASE("a peer that breaks the rules fails the job by its name") {
  const auto fails = [](const std::function<void(Group&)>& break_rules, const char* words) {
    Group group({"shm", 0}, 2, {0, 0, 1, 0, 8, 1024});
    break_rules(group);
    std::vector<std::uint32_t> arrived(2);
    group[1].take(0, 1, arrived);
    CHECK(group[1].rings->reserve(0, 0).empty());
    CHECK(group.job[1]->health.failed());
    CHECK(group.job[1]->health.peer() == 0);
    CHECK(group.job[1]->health.message().find(words) != std::string::npos);
    CHECK(arrived[0] == 0);
  };
  fails([](Group& group) { group.job[0]->signal(0, 1, 0, 1024 + 64); }, "more than a ring holds");
  fails([](Group& group) { group.job[0]->signal(0, 1, 0, 65); }, "more than a ring holds");
  fails([](Group& group) { group.job[0]->signal(0, 1, 1, 64); }, "gave credit for records that it never got");
  // The right header of a frame without records that ends superstep 1 is (0, 1, 1, 0).
  const auto header_fails = [&](std::uint16_t records, std::uint8_t superstep, std::uint8_t tail,
                                std::uint32_t in_superstep, const char* text) {
    fails(
        [&](Group& group) {
          const std::array words{records | std::uint32_t{superstep} << 16 | std::uint32_t{tail} << 24,
                                 in_superstep};
          std::memcpy(group.job[1]->region.data(), words.data(), sizeof words);
          group.job[0]->signal(0, 1, 0, 64);
        },
        text);
  };
  header_fails(0, 2, 1, 0, "a wrong header");
  header_fails(100, 1, 1, 100, "a wrong header");
  header_fails(0, 1, 8, 0, "a wrong header");
  header_fails(0, 1, 1, 5, "a wrong number of records");
}

TEST_CASE("sizes that no ring can have are refused in words") {
  const transport::Job job = transport::make_job({"shm", 0}, 1, 4096);
  for (const auto& [record_bytes, ring_bytes] :
       {std::pair{0, 1024}, {6, 1024}, {4100, 1 << 20}, {8, 448}, {8, 1000}, {240, 960}}) {
    RingSettings settings;
    settings.record_bytes = static_cast<std::size_t>(record_bytes);
    settings.ring_bytes = static_cast<std::size_t>(ring_bytes);
    CHECK_THROWS_AS(Member(*job[0], settings), Error);
  }
}

TEST_CASE("a peer that dies while records flow is noticed and named") {
  for (const std::string& backend : transport::usable()) {
    CAPTURE(backend);
    StderrCapture capture;
    launch::StartOptions options;
    options.processes = 3;
    options.peer_timeout_s = backend.ends_with("verbs") ? 8 : 60;  // after it cards send again
    const int status = launch::start(options, [&](launch::Bootstrap& bootstrap) {
      Endpoint me;
      me.settings = {
          bootstrap.rank(),       bootstrap.size(),   1, 2, bootstrap.secret(), bootstrap.address(),
          options.peer_timeout_s, &bootstrap.health()};
      me.settings.dpdk = transport::dpdk_choice(bootstrap.rank());
      me.transport = transport::create(backend, me.settings);
      const RingSettings settings{bootstrap.rank(), 3, 1, 0, 8, 4096};
      RegionPlan plan(3);
      plan.add("before", std::vector<std::size_t>(3, 100));
      const std::size_t part = plan.add("rings", std::vector<std::size_t>(3, settings.part_bytes()));
      const Region region = plan.expose(bootstrap, *me.transport);
      me.region = region.bytes();
      const Member member(me, settings, ring_places(region, part, settings));
      std::vector<std::uint32_t> sent(3), arrived(3);
      while (true) {  // until somebody dies
        for (int p = 0; p < 3; ++p)
          if (p != member.rank())
            sent[static_cast<std::size_t>(p)] += member.send(0, p, 1, sent[static_cast<std::size_t>(p)], 50);
        member.take(0, 1, arrived);
        if (member.rank() == 1 && arrived[0] > 5'000) std::raise(SIGKILL);
        if (!me.transport->poll() || bootstrap.health().failed()) throw Error(bootstrap.health().message());
      }
    });
    const std::string text = capture.text();
    CAPTURE(text);
    CHECK(status == 1);
    for (const int rank : {0, 2})
      CHECK(text.find(fmt::format("edgewire: rank {}: rank 1 was lost", rank)) != std::string::npos);
  }
}

}  // namespace
}  // namespace edgewire::channel
