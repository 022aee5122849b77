#include "channel/record_stream.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <cstdint>
#include <regex>
#include <span>

#include "bootstraps.h"
#include "phase_listener.h"
#include "process/barrier.h"
#include "transport_fixture.h"

namespace edgewire::channel {
namespace {

TEST_CASE("an observer is told what workers do with records, and whom they wait for") {
  constexpr std::uint64_t kRecords = 20'000;  // fit the ring: nobody takes any before it has sent all
  const auto members = launch::bootstraps(2);
  topology::PhaseListener listeners[2]{topology::PhaseListener(1), topology::PhaseListener(1)};
  std::uint64_t taken[2]{};
  transport::parallel(2, [&](int p) {
    auto& bootstrap = *members[static_cast<std::size_t>(p)];
    process::LocalProcess process(bootstrap, {.workers = 1, .transport = "shm", .peer_timeout_s = 100});
    RecordStream stream(bootstrap, process, sizeof kRecords);
    const auto take = [&](int, std::span<const std::byte> bytes) {
      taken[p] += bytes.size() / sizeof kRecords;
    };
    const auto superstep = [&](int lane) {
      for (std::uint64_t i = 0; i < kRecords; ++i) stream.send(lane, 1 - p, &i, sizeof i, take);
      stream.finish(lane, take);
    };
    process.pool().run(superstep);  // tells nobody
    process.pool().observe(&listeners[p], p);
    process.pool().run(superstep);
    {
      const process::WaitTold wait(process.pool());
      process::barrier(bootstrap, process.link());
    }
    process.pool().observe(nullptr);
  });
  for (std::size_t p = 0; p < 2; ++p) {
    CHECK(taken[p] == 2 * kRecords);
    const std::string& told = listeners[p].told[0];
    INFO(told);
    CHECK(std::regex_match(told, std::regex(fmt::format("cs(a|w{0})*a(a|w{0})*cw{1}cw-1c", 1 - p, p))));
    CHECK(listeners[p].aside_ns[0][static_cast<std::size_t>(topology::Phase::send)] > 0);
  }
}

}  // namespace
}  // namespace edgewire::channel
