// Transports among forked processes, and what happens when one of them dies or stops.
#include <doctest/doctest.h>

#include <csignal>
#include <cstring>

#include "growing_timeout.h"
#include "launch/start.h"
#include "stderr_capture.h"
#include "transport_fixture.h"

namespace edgewire::transport {
namespace {

/// For tests in which no timeout is to expire. The time after which cards send again follows from it.
double patient(const std::string& backend) { return backend.ends_with("verbs") ? 10 : 60; }

/// Rounds of all to all among forked processes; `before_round` may do harm.
int run_rounds(const std::string& backend, int processes, double peer_timeout_s, std::uint64_t rounds,
               const std::function<void(int rank, std::uint64_t round)>& before_round) {
  constexpr std::size_t kBytes = 300'001;
  launch::StartOptions options;
  options.processes = processes;
  options.peer_timeout_s = peer_timeout_s;
  return launch::start(options, [&](launch::Bootstrap& bootstrap) {
    Settings settings{bootstrap.rank(), bootstrap.size(),   1, 1, bootstrap.secret(), bootstrap.address(),
                      peer_timeout_s,   &bootstrap.health()};
    settings.dpdk = dpdk_choice(bootstrap.rank());
    const auto transport = create(backend, settings);
    std::vector<Transport::Part> parts;
    for (int p = 0; p < bootstrap.size(); ++p)
      parts.push_back({static_cast<std::size_t>(p) * 2 * kBytes, 2 * kBytes});
    const auto region = transport->expose(parts.size() * 2 * kBytes, parts);
    transport->connect(bootstrap.allgather(transport->blob()));
    const auto source = transport->send_memory(2 * kBytes);
    const auto progress = [&] {
      if (!transport->wait(std::chrono::milliseconds(20))) throw Error(bootstrap.health().message());
    };
    for (std::uint64_t round = 1; round <= rounds; ++round) {
      before_round(bootstrap.rank(), round);
      const std::size_t at = round % 2 * kBytes;
      const auto mine = source.subspan(at, kBytes);
      std::memset(mine.data(), static_cast<int>(round) + bootstrap.rank(), mine.size());
      for (int p = 0; p < bootstrap.size(); ++p) {
        if (p == bootstrap.rank()) continue;
        while (!transport->write(0, p, parts[static_cast<std::size_t>(bootstrap.rank())].offset + at, mine))
          progress();
        while (!transport->signal(0, p, 0, round)) progress();
      }
      transport->ring_doorbell(0);
      for (int p = 0; p < bootstrap.size(); ++p) {
        if (p == bootstrap.rank()) continue;
        while (transport->signalled(p, 0) < round || transport->completed(0, p) < round) progress();
        const auto theirs = region.subspan(parts[static_cast<std::size_t>(p)].offset + at, kBytes);
        for (const std::byte byte : theirs)
          require(byte == static_cast<std::byte>(static_cast<int>(round) + p), "wrong byte");
      }
    }
    bootstrap.finish();
  });
}

TEST_CASE("forked processes write into each other's regions") {
  for (const std::string& backend : usable())
    for (const int processes : {2, 4}) {
      CAPTURE(backend);
      CHECK(run_rounds(backend, processes, patient(backend), 10, [](int, std::uint64_t) {}) == 0);
    }
}

TEST_CASE("a peer that dies in the middle is noticed at once and named by all others") {
  for (const std::string& backend : usable())
    for (const int victim : {0, 1}) {
      CAPTURE(backend);
      StderrCapture capture;
      const int status =
          run_rounds(backend, 3, patient(backend), 1'000'000, [&](int rank, std::uint64_t round) {
            if (rank == victim && round == 3) std::raise(SIGKILL);
          });
      const std::string text = capture.text();
      CAPTURE(text);
      CHECK(status == 1);
      for (int p = 0; p < 3; ++p)
        if (p != victim)
          CHECK(text.find(fmt::format("edgewire: rank {}: rank {} was lost", p, victim)) != text.npos);
    }
}

TEST_CASE("a peer that stops in the middle is noticed within the timeout and named by all others") {
  for (const std::string& backend : usable())
    for (const int victim : {0, 2}) {
      CAPTURE(backend);
      int status = 0;
      std::string text;
      REQUIRE(with_growing_timeout(1, [&](double timeout_s) {
        StderrCapture capture;
        status = run_rounds(backend, 3, timeout_s, 1'000'000, [&](int rank, std::uint64_t round) {
          if (rank == victim && round == 3) std::raise(SIGSTOP);
        });
        text = capture.text();
        return !accuses_live(text, 3, victim) && text.find("cannot be connected") == text.npos;
      }));
      CAPTURE(text);
      CHECK(status == 1);
      for (int p = 0; p < 3; ++p)
        if (p != victim)
          CHECK(text.find(fmt::format("edgewire: rank {}: rank {} has been silent", p, victim)) != text.npos);
    }
}

TEST_CASE("the process that fails first is named, once, and not those that follow it") {
  for (const std::string& backend : usable()) {
    CAPTURE(backend);
    StderrCapture capture;
    const int status =
        run_rounds(backend, 4, patient(backend), 1'000'000, [&](int rank, std::uint64_t round) {
          if (rank == 2 && round == 3) throw Error("disk full");
        });
    const std::string text = capture.text();
    CAPTURE(text);
    CHECK(status == 1);
    CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    CHECK(text.find("rank 2") != text.npos);
    CHECK(text.ends_with(": disk full\n"));
  }
}

}  // namespace
}  // namespace edgewire::transport
