#include "profile/timeline.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>

#include "known_instructions.h"
#include "topology/worker_pool.h"

namespace edgewire::profile {
namespace {

using topology::Phase;

void pass_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

double ms(std::uint64_t ns) { return static_cast<double>(ns) * 1e-6; }

std::size_t index(Phase phase) { return static_cast<std::size_t>(phase); }

TEST_CASE("every moment of a worker belongs to one phase and one iteration") {
  Timeline timeline({.rank = 0, .processes = 3, .workers = 1, .iterations = 2});
  timeline.begin(0);
  for (std::uint64_t t = 1; t <= 2; ++t) {
    timeline.enter(0, Phase::compute, 7, -1);
    pass_ms(4);
    timeline.enter(0, Phase::send, 3, 2);
    pass_ms(3);
    timeline.aside(0, Phase::wait, 2, 2'000'000);
    timeline.enter(0, Phase::wait, 0, -1);
    timeline.waits_for(0, 1);
    pass_ms(2);
    timeline.arrived(0, 1, t);
    timeline.enter(0, Phase::wait, 0, 0);
    pass_ms(1);
    timeline.end_iteration(t);
  }
  timeline.finish(0);

  const auto iterations = timeline.iterations();
  REQUIRE(iterations.size() == 2);
  for (const auto& one : iterations) {
    CHECK(std::accumulate(one.phases.begin(), one.phases.end(), std::uint64_t{0}) ==
          one.end_ns - one.begin_ns);
    CHECK(ms(one.phases[index(Phase::compute)]) >= 4);
    CHECK(ms(one.phases[index(Phase::send)]) >= 1);
    CHECK(ms(one.phases[index(Phase::wait)]) >= 5);  // with the stall
    CHECK(ms(one.own_wait_ns) >= 1);
    CHECK(one.slowest_work_ns == one.end_ns - one.begin_ns - one.phases[index(Phase::wait)]);
  }
  CHECK(iterations[0].end_ns == iterations[1].begin_ns);
  const auto waited = timeline.waited_ns();
  CHECK(ms(waited[0]) >= 2);
  CHECK(ms(waited[1]) >= 4);
  CHECK(ms(waited[2]) == doctest::Approx(4));

  const auto spans = timeline.spans(0);
  for (std::size_t i = 1; i < spans.size(); ++i) CHECK(spans[i - 1].end_ns == spans[i].begin_ns);
  REQUIRE(spans.size() > 4);
  CHECK(spans.front().iteration == 1);
  CHECK(spans.back().iteration >= 2);
  const auto arrivals = timeline.arrivals(0);
  REQUIRE(arrivals.size() == 2);
  CHECK(arrivals[1].peer == 1);
  CHECK(arrivals[1].first == 1);
  CHECK(arrivals[1].end == 2);

  const auto worker = timeline.worker(0);
  CHECK(worker.whole.has(Event::task_clock_ns));
  CHECK(timeline.cpu_ns(0) > 0);
  // It slept: it had a core for a small part of the time.
  CHECK(worker.whole.count(Event::task_clock_ns) < static_cast<double>(worker.whole_ns));
  CHECK(worker.whole.count(Event::context_switches) >= 8);
}

/// Two workers, told by their pool, in two runs of two supersteps each, with time between the runs.
TEST_CASE("supersteps of several runs: what is between them is in none, what ends a run is in its last one") {
  constexpr int kWorkers = 2, kRank = 1;
  topology::WorkerPool pool(
      {.workers = std::vector<topology::WorkerPlace>(kWorkers), .oversubscribed = true});
  Timeline timeline({.rank = kRank, .processes = 3, .workers = kWorkers, .iterations = 10});
  for (std::uint64_t run = 0; run < 2; ++run) {
    pool.run([&](int worker) { timeline.begin(worker); });
    timeline.begin_run();
    pool.observe(&timeline, kRank);
    timeline.enter(0, Phase::compute, 0, -1);
    for (std::uint64_t step = 1; step <= 2; ++step) {
      pool.run([&](int worker) {
        if (worker == 1) return;
        pass_ms(3);
        timeline.aside(worker, Phase::send, 2, 1'000'000);
        timeline.aside(worker, Phase::wait, 2, 500'000);
      });
      timeline.end_iteration(2 * run + step);
    }
    timeline.enter(0, Phase::wait, 0, 0);
    pass_ms(2);
    pool.observe(nullptr);
    timeline.end_run();
    pool.run([&](int worker) { timeline.finish(worker); });
    pass_ms(20);
  }

  const auto iterations = timeline.iterations();
  REQUIRE(iterations.size() == 4);
  for (std::size_t i = 0; i < iterations.size(); ++i) {
    const auto& one = iterations[i];
    CAPTURE(i);
    const auto length_ns = one.end_ns - one.begin_ns;
    CHECK(std::accumulate(one.phases.begin(), one.phases.end(), std::uint64_t{0}) == kWorkers * length_ns);
    CHECK(ms(one.phases[index(Phase::compute)]) >= 1.5);
    CHECK(ms(one.phases[index(Phase::send)]) == doctest::Approx(1));
    CHECK(ms(one.own_wait_ns) >= 3);  // worker 1, for worker 0
    CHECK(ms(length_ns) >= (i % 2 == 1 ? 5 : 3));
    CHECK(one.slowest_work_ns <= length_ns);
  }
  CHECK(iterations[0].end_ns == iterations[1].begin_ns);
  CHECK(ms(iterations[2].begin_ns - iterations[1].end_ns) >= 20);
  const auto waited = timeline.waited_ns();
  CHECK(ms(waited[0]) >= 4);
  CHECK(ms(waited[2]) == doctest::Approx(2));
  std::uint64_t all_ns = 0;
  for (const auto& one : iterations) all_ns += one.end_ns - one.begin_ns;
  for (int w = 0; w < kWorkers; ++w) {
    const auto worker = timeline.worker(w);
    CHECK(std::accumulate(worker.phases.begin(), worker.phases.end(), std::uint64_t{0}) == all_ns);
    CHECK(worker.whole_ns == all_ns);
    const auto spans = timeline.spans(w);
    for (std::size_t i = 1; i < spans.size(); ++i) CHECK(spans[i - 1].end_ns <= spans[i].begin_ns);
  }
}

TEST_CASE("a run without a superstep leaves no times") {
  Timeline timeline({.workers = 1, .iterations = 3});
  for (std::uint64_t run = 0; run < 3; ++run) {
    timeline.begin(0);
    timeline.begin_run();
    timeline.enter(0, Phase::compute, 0, -1);
    timeline.enter(0, Phase::apply, 0, -1);
    pass_ms(2);
    timeline.enter(0, Phase::compute, 0, -1);
    if (run == 1) timeline.end_iteration(1);
    timeline.end_run();
    timeline.finish(0);
  }
  REQUIRE(timeline.iterations().size() == 1);
  const auto all = timeline.iterations()[0];
  const auto worker = timeline.worker(0);
  CHECK(std::accumulate(worker.phases.begin(), worker.phases.end(), std::uint64_t{0}) ==
        all.end_ns - all.begin_ns);
  CHECK(worker.whole_ns == all.end_ns - all.begin_ns);
}

TEST_CASE("what a worker executes is counted in its phase") {
  constexpr std::uint64_t kCompute = 40'000'000, kApply = 10'000'000;
  Timeline timeline({.workers = 1, .iterations = 3});
  timeline.begin(0);
  for (std::uint64_t t = 1; t <= 3; ++t) {
    timeline.enter(0, Phase::compute, 0, -1);
    run_instructions(kCompute);
    timeline.enter(0, Phase::apply, 0, -1);
    run_instructions(kApply);
    timeline.enter(0, Phase::wait, 0, 0);
    timeline.end_iteration(t);
  }
  timeline.finish(0);
  const auto worker = timeline.worker(0);
  if (worker.counter_error != 0) {
    MESSAGE("skipped: ", explain_missing_counters(worker.counter_error));
    return;
  }
  if (!shared_counters_are_right()) {
    MESSAGE(kSharedCountersAreWrong);
    return;
  }
  // An iteration that is not counted is in none of these sums.
  const auto& compute = worker.counts[index(Phase::compute)];
  const double counted = static_cast<double>(worker.counted_ns[index(Phase::compute)]) /
                         static_cast<double>(worker.phases[index(Phase::compute)]);
  CHECK(counted > 0.2);
  CHECK(compute.count(Event::instructions) == doctest::Approx(3 * counted * kCompute).epsilon(0.05));
  CHECK(worker.counts[index(Phase::apply)].count(Event::instructions) ==
        doctest::Approx(compute.count(Event::instructions) * kApply / kCompute).epsilon(0.05));
  CHECK(worker.whole.count(Event::instructions) == doctest::Approx(3.0 * (kCompute + kApply)).epsilon(0.05));
}

TEST_CASE("another thread sees at any moment how long a worker has computed") {
  Timeline timeline({.workers = 1, .iterations = 1});
  CHECK(timeline.cpu_ns(0) == 0);
  std::atomic<bool> begun{false}, done{false};  // single flags; pair with nothing
  std::jthread worker([&] {
    timeline.begin(0);
    begun = true;
    while (!done) continue;
    timeline.enter(0, Phase::wait, 0, 0);
    timeline.end_iteration(1);
    timeline.finish(0);
  });
  while (!begun) std::this_thread::yield();
  const auto before = timeline.cpu_ns(0);
  while (timeline.cpu_ns(0) < before + 20'000'000) std::this_thread::yield();  // and so on, for ever
  done = true;
}

TEST_CASE("memory is bounded: the latest spans and iterations stay, sums are of all") {
  constexpr std::uint64_t kIterations = Timeline::kKeptIterations + 50;
  Timeline timeline({.processes = 1, .workers = 1, .iterations = static_cast<int>(kIterations), .spans = 16});
  timeline.begin(0);
  for (std::uint64_t t = 1; t <= kIterations; ++t) {
    timeline.enter(0, Phase::compute, t, -1);
    timeline.enter(0, Phase::apply, t, -1);
    timeline.end_iteration(t);
  }
  timeline.finish(0);
  CHECK(timeline.iterations_done() == kIterations);
  const auto iterations = timeline.iterations();
  CHECK(iterations.size() == Timeline::kKeptIterations);
  for (std::size_t i = 1; i < iterations.size(); ++i)
    CHECK(iterations[i - 1].end_ns == iterations[i].begin_ns);
  const auto spans = timeline.spans(0);
  REQUIRE(spans.size() == 16);
  CHECK(spans[14].item == kIterations);
  std::uint64_t kept = 0, all = 0;
  for (const auto& one : iterations) kept += one.phases[0];
  for (const auto ns : timeline.worker(0).phases) all += ns;
  CHECK(timeline.worker(0).phases[0] > kept);
  CHECK(all == timeline.worker(0).whole_ns);
}

}  // namespace
}  // namespace edgewire::profile
