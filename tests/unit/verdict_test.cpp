#include "profile/verdict.h"

#include <doctest/doctest.h>

#include <vector>

namespace edgewire::profile {
namespace {

/// `processes` that work 20 ms of a 22 ms iteration on 20 M edges each and send 1 MB over 1 Gbit/s (8 ms).
RunLoad even(std::size_t processes) {
  RunLoad load;
  load.seconds = 0.022;
  load.line_bits_per_s = 1e9;
  load.memory_bytes_per_s = 30e9;
  ProcessLoad one;
  one.items = 20e6;
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

TEST_CASE("where the slowest process has nothing to work on, no faster link is predicted") {
  auto load = even(2);
  load.processes[1].items = 0;
  load.processes[1].work_s = 0.021;
  CHECK(judge(load).seconds_10x == load.seconds);
}

TEST_CASE("a disk that is busy for longer than the work limits, and counts where it does not") {
  auto load = even(2);
  load.processes[1].disk_s = 0.0215;
  load.processes[1].disk_bytes = 25'000'000;
  auto verdict = judge(load);
  CHECK(verdict.limiters[0].cause == Cause::disk);
  CHECK(verdict.limiters[0].rank == 1);
  CHECK(says(verdict, "limit: disk 98 %: a disk of rank 1 is busy for 21.5 ms an iteration, for 25 MB"));
  load.processes[1].disk_s = 0.010;
  CHECK(says(judge(load), "next:  disk 45 %"));
}

TEST_CASE("a verdict speaks of supersteps, steps and runs as its job does") {
  auto load = even(2);
  load.words = {"superstep", "edges"};
  CHECK(says(judge(load), "a worker computes 1 G edges/s, for 20 ms a superstep"));
  CHECK(says(judge(load), "1 MB a superstep, at 1.00 Gbit/s"));
  load.words = {"run", "tasks"};
  for (auto& one : load.processes) one.items = 4000;
  CHECK(says(judge(load), "a worker computes 200 k tasks/s, for 20 ms a run"));
  for (auto& one : load.processes) one.items = 40;
  CHECK(says(judge(load), "a worker computes 2 k tasks/s"));
  load.processes[0].items = 80;
  load.processes[1].work_s = 0.01;
  CHECK(says(judge(load), "2.00 times the tasks"));
}

TEST_CASE("the wire limits when its bytes take longest, and a faster link brings what the work leaves") {
  auto load = even(2);
  load.seconds = 0.043;
  load.processes[1].wire_bytes_received = 5'000'000;  // 40 ms
  const auto verdict = judge(load);
  CHECK(verdict.limiters[0].cause == Cause::wire);
  CHECK(verdict.limiters[0].share == doctest::Approx(40.0 / 43));
  CHECK(verdict.limiters[0].rank == 1);
  CHECK(says(verdict, "limit: wire 93 %: rank 1 receives 5 MB"));
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
  CHECK(says(verdict, "at 0.20 Gbit/s (the run was that fast; 0.10 measured before it) 40 ms"));
}

TEST_CASE("a verdict says whether a line rate was measured or given") {
  auto load = even(2);
  CHECK(says(judge(load), "at 1.00 Gbit/s (measured before the run) 8 ms"));
  load.given_bits_per_s = 2.5e9;
  CHECK(says(judge(load), "at 1.00 Gbit/s (measured before the run, 2.5 given) 8 ms"));
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
    load.processes[2].items = 40e6;
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
    CHECK(says(verdict, "rank 2 is busy for 40 ms, 2 ns of a worker for an edge, the others 1 ns\n"));
  }
  SUBCASE("a neighbour on its core") {
    load.processes[2].core_wait_s = 0.02;
    CHECK(says(judge(load), "its workers had no core for 20 ms of an iteration"));
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
  CHECK(says(verdict, "its workers had no core for 70 ms of an iteration"));
  load.processes[0].lost_s = load.processes[0].core_wait_s =
      0.07;  // all of them do: the machines are too small for what runs there
  CHECK(limit(load) == Cause::cores);
  CHECK(says(judge(load), "they had no core for 70 ms of it"));
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
  CHECK(says(verdict,
             "rank 1 keeps the others waiting for 12 ms; its workers had no core for 15 ms of an iter"));
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
  CHECK(says(verdict, "one worker of rank 0 works for 30 ms, its workers' mean is 20 ms"));
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

// The limits of the runs that tests/end_to_end/test_profile.py measures, on figures such as theirs.

TEST_CASE("a process alone whose values stay in the cache is limited by its core, however slow memory is") {
  auto load = even(1);
  load.line_bits_per_s = 0;
  load.processes[0].memory_bytes = 0;
  load.memory_bytes_per_s = 1e6;
  const auto verdict = judge(load);
  REQUIRE(verdict.limiters.size() == 1);
  CHECK(verdict.limiters[0].cause == Cause::cores);
}

/// Two processes that work 20 ms and then get `bytes` over such a link.
RunLoad over_link(std::uint64_t bytes, double bits_per_s) {
  auto load = even(2);
  load.line_bits_per_s = bits_per_s;
  for (auto& one : load.processes) {
    one.wire_bytes_sent = one.wire_bytes_received = bytes;
    one.waited_s = static_cast<double>(bytes) * 8 / bits_per_s;
    load.seconds = one.work_s + one.waited_s;
  }
  return load;
}

TEST_CASE("over a link that is much too slow sending takes nearly all of the time") {
  const auto verdict = judge(over_link(1'000'000, 20e6));  // 400 ms
  CHECK(verdict.limiters[0].cause == Cause::wire);
  CHECK(verdict.limiters[0].share > 0.9);
  CHECK(verdict.seconds_10x < verdict.seconds / 2);
}

TEST_CASE("what ten times the rate is said to bring is what a link of that rate gives") {
  struct Links {
    std::uint64_t bytes;
    double slow, fast;
    Cause then;
  };
  for (const Links& links :
       {Links{1'000'000, 20e6, 200e6, Cause::wire}, Links{3'000'000, 1e9, 10e9, Cause::cores}}) {
    CAPTURE(links.slow);
    const auto before = judge(over_link(links.bytes, links.slow)),
               after = judge(over_link(links.bytes, links.fast));
    CHECK(before.limiters[0].cause == Cause::wire);
    CHECK(after.limiters[0].cause == links.then);
    CHECK(before.seconds_10x == doctest::Approx(after.seconds).epsilon(0.25));
  }
}

TEST_CASE("a process that shares its core with other programs is a slow peer, in long and short iterations") {
  struct Run {
    const char* what;
    double seconds, work_s, slow_work_s, lost_s, core_wait_s;
    std::uint64_t wire_bytes;
  };
  // While the core is taken away from work, the work takes longer; while it waits, the time is lost to it.
  for (const auto& run : {Run{"neighbours, long", 0.082, 0.020, 0.080, 0, 0.060, 0},
                          Run{"neighbours, short", 1.6e-3, 0.35e-3, 0.9e-3, 0.6e-3, 1.1e-3, 0},
                          Run{"neighbours, short, over TCP", 2.2e-3, 0.35e-3, 0.9e-3, 0.8e-3, 1.4e-3, 50'000},
                          Run{"half a core, long", 0.042, 0.020, 0.040, 0, 0.020, 100'000},
                          Run{"half a core, short", 0.9e-3, 0.35e-3, 0.6e-3, 0.2e-3, 0.45e-3, 20'000}}) {
    CAPTURE(run.what);
    auto load = even(2);
    load.seconds = run.seconds;
    load.line_bits_per_s = run.wire_bytes == 0 ? 0 : 10e9;
    for (auto& one : load.processes) {
      one.wire_bytes_sent = one.wire_bytes_received = run.wire_bytes;
      one.memory_bytes = 0;
      one.work_s = one.slowest_worker_s = run.work_s;
      one.waited_s = run.seconds - run.work_s;
    }
    auto& slow = load.processes[1];
    slow.work_s = slow.slowest_worker_s = run.slow_work_s;
    slow.lost_s = run.lost_s;
    slow.core_wait_s = run.core_wait_s;
    slow.waited_s = run.seconds - run.slow_work_s;
    slow.awaited_s = load.processes[0].waited_s;
    const auto verdict = judge(load);
    INFO(verdict.to_text());
    CHECK(to_name(verdict.limiters[0].cause) == "a slow peer");
    CHECK(verdict.limiters[0].rank == 1);
    CHECK(verdict.limiters[0].why.find("had no core for") != std::string::npos);
    // The same without a hint at its core: it is slow for another reason, or nobody is.
    slow.core_wait_s = slow.lost_s = 0;
    CHECK(judge(load).limiters[0].why.find("had no core for") == std::string::npos);
  }
}

}  // namespace
}  // namespace edgewire::profile
