#include "perf/verdict.h"

#include <doctest/doctest.h>

#include <vector>

namespace edgewire::perf {
namespace {

/// `processes` that work 20 ms of a 22 ms iteration on 20 M edges each and send 1 MB over 1 Gbit/s (8 ms).
RunLoad even(std::size_t processes) {
  RunLoad load;
  load.seconds = 0.022;
  load.line_bits_per_s = 1e9;
  load.memory_bytes_per_s = 30e9;
  ProcessLoad one;
  one.edges = 20e6;
  one.work_s = one.slowest_worker_s = 0.020;
  one.waited_s = 0.002;
  one.wire_bytes_sent = one.wire_bytes_received = 1'000'000;
  one.memory_bytes = 120'000'000;  // 4 ms
  load.processes.assign(processes, one);
  return load;
}

Cause limit(const RunLoad& load) { return judge(load).limiters.front().cause; }

bool says(const Verdict& verdict, const char* words) {
  INFO(verdict.to_text());
  return verdict.to_text().find(words) != std::string::npos;
}

TEST_CASE("even work that takes longest is the cores'") {
  const auto verdict = judge(even(2));
  REQUIRE(verdict.limiters.size() == 2);
  CHECK(verdict.limiters[0].cause == Cause::cores);
  CHECK(verdict.limiters[0].share == doctest::Approx(20.0 / 22));
  CHECK(verdict.limiters[1].cause == Cause::wire);
  CHECK(verdict.limiters[1].seconds == doctest::Approx(0.008));
  CHECK(verdict.seconds_10x == doctest::Approx(0.022));
  CHECK(says(verdict, "limit: cores 91 %"));
  CHECK(says(verdict, "next:  wire 36 %"));
}

TEST_CASE("the wire limits when its bytes take longest, and a faster link brings what the work leaves") {
  auto load = even(2);
  load.seconds = 0.043;
  load.processes[1].wire_bytes_received = 5'000'000;  // 40 ms
  const auto verdict = judge(load);
  CHECK(verdict.limiters[0].cause == Cause::wire);
  CHECK(verdict.limiters[0].share == doctest::Approx(40.0 / 43));
  CHECK(verdict.limiters[0].rank == 1);
  CHECK(says(verdict, "limit: wire 93 %: rank 1 receives 5.00 MB"));
  CHECK(verdict.limiters[1].cause == Cause::cores);
  CHECK(verdict.seconds_10x == doctest::Approx(0.023));  // 40 ms of the wire become 20 ms of work
}

TEST_CASE("a process that never waited shows that the link is faster than was measured") {
  auto load = even(2);
  load.seconds = 0.041;
  load.line_bits_per_s = 0.1e9;  // 80 ms, longer than the iteration
  load.processes[1].work_s = load.processes[1].slowest_worker_s = 0.040;
  CHECK(limit(load) == Cause::wire);
  load.processes[1].waited_s = 0.0005;
  const auto verdict = judge(load);
  CHECK(verdict.limiters[0].cause == Cause::slow_peer);
  CHECK(verdict.limiters[1].cause == Cause::wire);
  CHECK(says(verdict, "at 0.20 Gbit/s (the run was that fast; 0.10 measured before it) 40.00 ms"));
}

TEST_CASE("a verdict says whether a line rate was measured or given") {
  auto load = even(2);
  CHECK(says(judge(load), "at 1.00 Gbit/s (measured before the run) 8.00 ms"));
  load.given_bits_per_s = 2.5e9;
  CHECK(says(judge(load), "at 1.00 Gbit/s (measured before the run, 2.5 given) 8.00 ms"));
}

TEST_CASE("memory limits when streaming takes nearly all of the work's time, unless all stays in the cache") {
  auto load = even(1);
  load.line_bits_per_s = 0;
  load.processes[0].memory_bytes = 570'000'000;  // 19 ms
  const auto verdict = judge(load);
  CHECK(verdict.limiters[0].cause == Cause::memory);
  CHECK(verdict.limiters.size() == 1);
  CHECK(!says(verdict, "ten times"));
  load.processes[0].memory_bytes = 0;
  CHECK(limit(load) == Cause::cores);
}

TEST_CASE("a process with more edges is imbalance, one that needs longer for an edge a slow peer") {
  auto load = even(3);
  load.seconds = 0.042;
  load.processes[2].work_s = load.processes[2].slowest_worker_s = 0.040;
  SUBCASE("more edges") {
    load.processes[2].edges = 40e6;
    const auto verdict = judge(load);
    CHECK(verdict.limiters[0].cause == Cause::imbalance);
    CHECK(verdict.limiters[0].rank == 2);
    CHECK(says(verdict, "2.00 times the edges"));
    CHECK(verdict.limiters[1].cause == Cause::cores);
    CHECK(verdict.limiters[1].seconds == doctest::Approx(0.080 / 3));
  }
  SUBCASE("the same edges") {
    const auto verdict = judge(load);
    CHECK(verdict.limiters[0].cause == Cause::slow_peer);
    CHECK(verdict.limiters[0].rank == 2);
    CHECK(says(verdict, "rank 2 is busy for 40.00 ms, 2.00 ns of a worker for an edge, the others 1.00\n"));
  }
  SUBCASE("a neighbour on its core") {
    load.processes[2].core_wait_s = 0.02;
    CHECK(says(judge(load), "its workers had no core for 20.00 ms of an iteration"));
  }
  SUBCASE("half the cores") {
    load.processes[2].workers = 2;
    load.processes[2].cores = 1;
    CHECK(says(judge(load), "its 2 workers share 1 core\n"));
  }
}

TEST_CASE("who loses its core while it waits is slow, and no latency is blamed") {
  auto load = even(2);
  load.seconds = 0.1;
  load.processes[1].lost_s = load.processes[1].core_wait_s = 0.07;
  const auto verdict = judge(load);
  CHECK(verdict.limiters[0].cause == Cause::slow_peer);
  CHECK(verdict.limiters[0].rank == 1);
  CHECK(verdict.limiters[0].share == doctest::Approx(0.9));
  CHECK(says(verdict, "its workers had no core for 70.00 ms of an iteration"));
  load.processes[0].lost_s = load.processes[0].core_wait_s =
      0.07;  // all of them do: the machines are too small for what runs there
  CHECK(limit(load) == Cause::cores);
  CHECK(says(judge(load), "they had no core for 70.00 ms of it"));
}

TEST_CASE("who loses its core in few iterations is slow, though the means of the work are alike") {
  auto load = even(2);
  load.seconds = 0.032;
  load.processes[0].waited_s = load.processes[1].awaited_s = 0.012;
  load.processes[1].waited_s = load.processes[0].awaited_s = 0.009;
  load.processes[1].work_s = load.processes[1].slowest_worker_s = 0.023;
  load.processes[1].core_wait_s = 0.015;
  const auto verdict = judge(load);
  CHECK(verdict.limiters[0].cause == Cause::slow_peer);
  CHECK(verdict.limiters[0].rank == 1);
  CHECK(verdict.limiters[0].seconds == doctest::Approx(0.032));
  CHECK(
      says(verdict,
           "rank 1 keeps the others waiting for 12.00 ms; its workers had no core for 15.00 ms of an iter"));
  CHECK(verdict.limiters[1].cause == Cause::cores);
  SUBCASE("both of them do") {
    load.processes[0].core_wait_s = 0.015;
    CHECK(limit(load) == Cause::cores);
  }
  SUBCASE("nobody waits for it") {
    load.processes[1].awaited_s = 0.001;
    CHECK(limit(load) == Cause::cores);
  }
  SUBCASE("the others wait for the wire") {
    load.processes[1].wire_bytes_received = 4'000'000;  // all of the iteration
    CHECK(limit(load) == Cause::wire);
  }
}

TEST_CASE("a core that is lost while the wire is busy anyway does no harm") {
  auto load = even(2);
  load.seconds = 0.4;
  load.processes[1].wire_bytes_received = 50'000'000;  // 400 ms
  for (auto& one : load.processes) one.lost_s = one.core_wait_s = one.waited_s = 0.3;
  const auto verdict = judge(load);
  CHECK(verdict.limiters[0].cause == Cause::wire);
  CHECK(verdict.limiters[1].seconds == doctest::Approx(0.020));
  CHECK(verdict.seconds_10x == doctest::Approx(0.040));
}

TEST_CASE("one worker with more than its share is imbalance too") {
  auto load = even(2);
  load.seconds = 0.032;
  load.processes[0].workers = load.processes[1].workers = 4;
  load.processes[0].slowest_worker_s = 0.030;
  const auto verdict = judge(load);
  CHECK(verdict.limiters[0].cause == Cause::imbalance);
  CHECK(says(verdict, "one worker of rank 0 works for 30.00 ms, its workers' mean is 20.00"));
}

TEST_CASE("time that neither work nor bytes explain is latency") {
  auto load = even(2);
  load.seconds = 0.1;
  const auto verdict = judge(load);
  CHECK(verdict.limiters[0].cause == Cause::latency);
  CHECK(verdict.limiters[0].share == doctest::Approx(0.8));
  CHECK(verdict.limiters[1].cause == Cause::cores);
}

TEST_CASE("nothing computed gives a verdict without divisions by nothing") {
  RunLoad load;
  load.processes.resize(2);
  const auto verdict = judge(load);
  REQUIRE(!verdict.limiters.empty());
  CHECK(verdict.limiters[0].share == 0);
  CHECK(!says(verdict, "nan"));
  CHECK(!says(verdict, "inf"));
}

}  // namespace
}  // namespace edgewire::perf
