// What the RDMA backend does beyond the contract. Needs an RDMA device; tests/lab/rdma-vm has one.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "transport/sealed.h"
#include "transport/verbs/memory.h"
#include "transport_fixture.h"

namespace edgewire::transport {
namespace {

/// Says that a test is skipped, and why, where there is no device.
bool has_device() {
  for (const Backend& backend : backends()) {
    if (backend.name != "verbs" || backend.usable) continue;
    const std::string text = "skipped: " + backend.reason;
    MESSAGE(text);
    return false;
  }
  return true;
}

/// Devices whose ports share the traffic; null, and said, where a test is to be skipped.
const char* several_rails() {
  if (!has_device()) return nullptr;
  const char* rails = std::getenv("EDGEWIRE_TEST_VERBS_RAILS");
  if (rails == nullptr) MESSAGE("skipped: EDGEWIRE_TEST_VERBS_RAILS names no devices");
  return rails;
}

const Subject kVerbs{"verbs", 0};

TEST_CASE("memory is pinned, or paged on demand where that is wished or must be, and the card can") {
  using verbs::Registration;
  using Ways = std::vector<Registration>;
  CHECK(verbs::ways_to_register("auto", true) == Ways{Registration::pinned, Registration::on_demand});
  CHECK(verbs::ways_to_register("auto", false) == Ways{Registration::pinned});
  CHECK(verbs::ways_to_register("pinned", true) == Ways{Registration::pinned});
  CHECK(verbs::ways_to_register("on-demand", true) == Ways{Registration::on_demand});
  CHECK(verbs::ways_to_register("on-demand", false).empty());
}

TEST_CASE("a read brings what the peer has in the part for this process, and no byte of another part") {
  if (!has_device()) return;
  for (const Subject& subject : {kVerbs, Subject{"shm+verbs", 0}}) {
    constexpr std::size_t kBytes = 1 << 20;
    const Job job = make_job(subject, 3, kBytes);  // 0 is on another host than 1 and 2
    CHECK(job[0]->transport->can_read(1));
    CHECK(job[1]->transport->can_read(2) == (subject.backend == "verbs"));
    for (std::size_t i = 0; i < kBytes; ++i) job[1]->part_of(0)[i] = static_cast<std::byte>(i * 7 + i / 251);
    const auto memory = job[0]->transport->send_memory(kBytes);
    const auto read = [&](std::size_t offset, std::size_t bytes) {
      const std::uint64_t before = job[0]->transport->completed(0, 1);
      while (!job[0]->transport->read_remote(0, 1, offset, memory.first(bytes))) job[0]->progress();
      job[0]->transport->ring_doorbell(0);
      job[0]->until([&] { return job[0]->transport->completed(0, 1) == before + 1; });
    };
    for (const auto& [begin, bytes] :
         {std::pair<std::size_t, std::size_t>{0, kBytes}, {4097, 30'000}, {7, 1}}) {
      read(begin, bytes);
      CHECK(std::memcmp(memory.data(), job[1]->part_of(0).data() + begin, bytes) == 0);
    }
    // Between writes and signals.
    memory[0] = std::byte{99};
    job[0]->write(0, 1, 5, memory.first(1));
    while (!job[0]->transport->read_remote(0, 1, 5, memory.subspan(64, 1))) job[0]->progress();
    job[0]->signal(0, 1, 0, 1);
    job[0]->transport->ring_doorbell(0);
    job[1]->until([&] { return job[1]->transport->signalled(0, 0) == 1; });
    job[0]->until([&] { return memory[64] == std::byte{99}; });
    CHECK_THROWS_AS(read(kBytes, 64), Error);  // of rank 1's own part
  }
}

TEST_CASE("the lanes are dealt over the rails, and every card carries its part") {
  const char* rails = several_rails();
  if (rails == nullptr) return;
  const auto sent_packets = [](const std::string& device) {
    std::uint64_t count = 0;
    std::ifstream("/sys/class/infiniband/" + device + "/ports/1/hw_counters/sent_pkts") >> count;
    return count;
  };
  const std::string names = rails, first = names.substr(0, names.find(',')),
                    second = names.substr(names.find(',') + 1);
  const std::uint64_t before[] = {sent_packets(first), sent_packets(second)};
  Subject subject = kVerbs;
  subject.verbs.device = names;
  const Job job = make_job(subject, 2, 1 << 20, 2);
  const auto source = job[0]->transport->send_memory(1 << 20);
  std::memset(source.data(), 5, source.size());
  job[0]->write(0, 1, 0, source.first(1 << 19));
  job[0]->write(1, 1, 1 << 19, source.subspan(1 << 19));
  for (const int lane : {0, 1}) job[0]->transport->ring_doorbell(lane);
  job[0]->until([&] { return job[0]->transport->completed(0, 1) + job[0]->transport->completed(1, 1) == 2; });
  for (const std::byte byte : job[1]->part_of(0)) REQUIRE(byte == std::byte{5});
  const std::uint64_t packets = (1 << 19) / 4096;
  CHECK(sent_packets(first) - before[0] >= packets);
  CHECK(sent_packets(second) - before[1] >= packets);
  CHECK(job[0]->transport->describe().find(first + " port 1 and " + second + " port 1") != std::string::npos);
}

TEST_CASE("processes with different numbers of rails are told so") {
  const char* rails = several_rails();
  if (rails == nullptr) return;
  Health health;
  std::vector<std::unique_ptr<Transport>> job;
  std::vector<std::string> blobs;
  for (int rank = 0; rank < 2; ++rank) {
    Settings settings{rank, 2, 1, 1, std::string(32, 'a'), "", 60, &health};
    if (rank == 1) settings.verbs.device = rails;
    job.push_back(create("verbs", settings));
    job.back()->expose(64, {});
    blobs.push_back(job.back()->blob());
  }
  CHECK_THROWS_WITH_AS(job[0]->connect(blobs),
                       "rank 1 cannot be connected over verbs: it uses 2 RDMA devices, and this process uses "
                       "1 (--verbs-device)",
                       Error);
}

void until_failed(const Endpoint& me) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (me.transport->poll()) {
    me.transport->wait(std::chrono::milliseconds(5));
    REQUIRE(std::chrono::steady_clock::now() < deadline);
  }
}

TEST_CASE("the card refuses a write outside the part of its sender") {
  if (!has_device()) return;
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
  if (!has_device()) return;
  const Job job = make_job(kVerbs, 2, 4096);
  const std::vector<std::byte> foreign(100);
  CHECK_FALSE(job[0]->transport->write(0, 1, 0, foreign));
  CHECK(job[0]->health.message() == "a write comes from memory that was not registered");
}

/// Two processes that are not connected, their offers, and secrets of one letter each.
std::vector<std::unique_ptr<Endpoint>> exposed_pair(std::vector<std::string>& blobs,
                                                    const std::string& device = "",
                                                    const std::string& secrets = "aa",
                                                    double peer_timeout_s = 2) {
  std::vector<std::unique_ptr<Endpoint>> job;
  for (int rank = 0; rank < 2; ++rank) {
    auto made = std::make_unique<Endpoint>();
    const std::string secret(32, secrets[static_cast<std::size_t>(rank)]);
    made->settings = {rank, 2, 1, 1, secret, "", peer_timeout_s, &made->health};
    made->settings.verbs.device = device;
    made->transport = create("verbs", made->settings);
    const std::vector<Transport::Part> parts{{0, 64}, {64, 64}};
    made->transport->expose(128, parts);
    blobs.push_back(made->transport->blob());
    job.push_back(std::move(made));
  }
  return job;
}

TEST_CASE("offers of another run are refused, and keys do not travel in the clear") {
  if (!has_device()) return;
  std::vector<std::string> blobs;
  const auto job = exposed_pair(blobs, "", "ab", 60);
  CHECK(blobs[0].find("EWVERB") == blobs[0].npos);
  CHECK_THROWS_WITH_AS(job[0]->transport->connect(blobs),
                       "rank 1 cannot be connected over verbs: it has another secret", Error);
}

TEST_CASE("a peer that never comes is named within the timeout") {
  if (!has_device()) return;
  std::vector<std::string> blobs;
  const auto job = exposed_pair(blobs);
  job[1]->transport.reset();
  std::string said;
  try {
    job[0]->transport->connect(blobs);
  } catch (const Error& error) {
    said = error.what();
  }
  CHECK(said.starts_with("rank 1 "));
}

TEST_CASE("who calls or answers over iWARP without the token of the connection is refused") {
  const char* device = std::getenv("EDGEWIRE_TEST_IWARP");
  if (device == nullptr) {
    MESSAGE("skipped: EDGEWIRE_TEST_IWARP names no iWARP device");
    return;
  }
  const std::string over = " cannot be connected over " + std::string(device) + " port 1: ";
  for (const std::size_t forger : {1U, 0U}) {
    std::vector<std::string> blobs;
    const auto job = exposed_pair(blobs, device);
    // At the end of an offer are two connections of 24 bytes: with rank 0 and with rank 1, the token last.
    const std::string use = "edgewire verbs offer", secret = job[0]->settings.secret;
    std::string offer = unseal(blobs[1 - forger], secret, use);
    REQUIRE(offer.size() > 48);
    offer[offer.size() - (forger == 1 ? 1 : 25)] ^= 1;
    std::vector<std::string> forged = blobs;
    forged[1 - forger] = seal(offer, secret, use);
    std::string said[2];
    parallel(2, [&](int rank) {
      const auto r = static_cast<std::size_t>(rank);
      try {
        job[r]->transport->connect(r == forger ? forged : blobs);
      } catch (const Error& error) {
        said[r] = error.what();
      }
    });
    CHECK(said[1] ==
          "rank 0" + over +
              (forger == 1 ? "it refuses the call" : "the process that answered is not of this run"));
    CHECK(said[0].starts_with(forger == 1 ? "rank 1" + over + "no answer within 2 s" : "rank 1 "));
    CHECK(job[0]->transport->counters().refused_connections == (forger == 1 ? 1 : 0));
  }
}

TEST_CASE("more signals than credits arrive, whoever polls") {
  if (!has_device()) return;
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

TEST_CASE("a thread takes what arrives while nobody polls") {
  if (!has_device()) return;
  constexpr std::uint64_t kSignals = 100;  // more than credits: the receiver's thread gives them back
  for (const int cpu : {-1, 0}) {
    Subject subject = kVerbs;
    subject.verbs.progress_thread = true;
    subject.verbs.poll_cpu = cpu;
    const Job job = make_job(subject, 2, 4096);
    const auto source = job[0]->transport->send_memory(4096);
    std::memset(source.data(), 7, source.size());
    for (std::uint64_t count = 1; count <= kSignals; ++count) {
      job[0]->write(0, 1, 0, source);
      job[0]->signal(0, 1, 0, count);
      job[0]->transport->ring_doorbell(0);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (job[1]->transport->signalled(0, 0) < kSignals) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(job[1]->part_of(0)[4095] == std::byte{7});
    CHECK(job[0]->transport->describe().ends_with("taken by a thread"));
  }
}

TEST_CASE("signals behind one doorbell are merged when nothing lies between them") {
  if (!has_device()) return;
  const Job job = make_job(kVerbs, 2, 64);
  for (const std::uint64_t count : {7U, 9U, 8U}) job[0]->signal(0, 1, 0, count);
  job[0]->transport->ring_doorbell(0);
  job[1]->until([&] { return job[1]->transport->signalled(0, 0) == 9; });
  CHECK(job[0]->transport->counters().frame_bytes == 8);
}

}  // namespace
}  // namespace edgewire::transport
