#include <doctest/doctest.h>
#include <sched.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "phase_listener.h"
#include "schedule.h"
#include "topology/machine.h"
#include "topology/worker_pool.h"

namespace edgewire::topology {
namespace {

/// Workers as `run` would place them, so that those beyond the cores of the machine wait by blocking.
topology::Placement places(int workers) { return topology::place(topology::discover(), 0, 1, workers); }

TEST_CASE("run calls every worker once, and what they wrote is seen after it" *
          doctest::test_suite("schedules")) {
  for (int workers = 1; workers <= 8; ++workers) {
    WorkerPool pool(places(workers));
    REQUIRE(pool.workers() == workers);
    std::vector<int> calls(static_cast<std::size_t>(workers));
    for (int round = 1; round <= rounds(200); ++round) {
      pool.run([&](int worker) { ++calls[static_cast<std::size_t>(worker)]; });
      for (const int count : calls) REQUIRE(count == round);
    }
  }
}

TEST_CASE("the parts of workers follow each other, hold all items, and differ by one at most") {
  for (int workers = 1; workers <= 8; ++workers) {
    const WorkerPool pool(places(workers));
    for (const std::uint64_t items : {0U, 1U, 7U, 8U, 1000U, 0xffffffffU}) {
      CAPTURE(workers);
      CAPTURE(items);
      std::uint64_t end = 0;
      for (int w = 0; w < workers; ++w) {
        const Part part = pool.part(w, items);
        CHECK(part.first == end);
        CHECK(part.last - part.first - items / static_cast<std::uint64_t>(workers) <= 1);
        end = part.last;
      }
      CHECK(end == items);
    }
  }
}

TEST_CASE("worker 0 is the caller, the others are not") {
  WorkerPool pool(places(3));
  std::vector<std::thread::id> ids(3);
  pool.run([&](int worker) { ids[static_cast<std::size_t>(worker)] = std::this_thread::get_id(); });
  CHECK(ids[0] == std::this_thread::get_id());
  CHECK(ids[1] != ids[0]);
  CHECK(ids[2] != ids[1]);
}

TEST_CASE("workers run on their cores, and the caller gets its own back") {
  const topology::Placement placement = places(static_cast<int>(topology::discover().cores.size()));
  cpu_set_t before;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  {
    WorkerPool pool(placement);
    std::vector<int> cpus(placement.workers.size());
    pool.run([&](int worker) { cpus[static_cast<std::size_t>(worker)] = sched_getcpu(); });
    for (std::size_t w = 0; w < cpus.size(); ++w) CHECK(cpus[w] == placement.workers[w].cpu);
  }
  cpu_set_t after;
  REQUIRE(sched_getaffinity(0, sizeof(after), &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("for_each hands out every index once" * doctest::test_suite("schedules")) {
  for (const int workers : {1, 2, 5, 8}) {
    WorkerPool pool(places(workers));
    for (const int count : {0, 1, 3, rounds(10'000)}) {
      std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
      pool.for_each(static_cast<std::uint64_t>(count), [&](int worker, std::uint64_t index) {
        if (worker >= 0 && worker < workers) seen[index].fetch_add(1, std::memory_order_relaxed);
      });
      for (const auto& one : seen) REQUIRE(one.load() == 1);
    }
  }
}

TEST_CASE("nobody passes a barrier before all have come, and the last one's work comes first" *
          doctest::test_suite("schedules")) {
  for (const int workers : {1, 2, 3, 8}) {
    WorkerPool pool(places(workers));
    std::vector<int> values(static_cast<std::size_t>(workers));
    std::atomic<int> faults{0};
    int sum = 0;
    pool.run([&](int worker) {
      for (int round = 1; round <= rounds(300); ++round) {
        values[static_cast<std::size_t>(worker)] = round;
        pool.barrier([&] { sum = std::accumulate(values.begin(), values.end(), 0); });
        if (sum != round * workers) faults.fetch_add(1);
        pool.barrier();
      }
    });
    CHECK(faults.load() == 0);
  }
}

TEST_CASE("the exception of the lowest worker comes out, and the pool goes on" *
          doctest::test_suite("schedules")) {
  WorkerPool pool(places(4));
  for (int round = 0; round < rounds(50); ++round) {
    CHECK_THROWS_WITH_AS(pool.run([](int worker) {
      if (worker % 2 == 1) throw Error("worker " + std::to_string(worker));
    }),
                         "worker 1", Error);
    std::atomic<int> calls{0};
    pool.run([&](int) { calls.fetch_add(1); });
    REQUIRE(calls.load() == 4);
  }
}

TEST_CASE("an exception frees the workers that wait in a barrier" * doctest::test_suite("schedules")) {
  for (const int workers : {2, 4}) {
    WorkerPool pool(places(workers));
    for (int thrower = 0; thrower < workers; ++thrower) {
      std::atomic<int> passed{0};
      CHECK_THROWS_WITH_AS(pool.run([&](int worker) {
        if (worker == thrower) throw std::runtime_error("no more");
        pool.barrier();
        passed.fetch_add(1);
      }),
                           "no more", std::runtime_error);
      CHECK(passed.load() == 0);
      CHECK_THROWS_AS(pool.run([&](int) { pool.barrier([] { throw Error("last"); }); }), Error);
      int last_calls = 0;
      pool.run([&](int) { pool.barrier([&] { ++last_calls; }); });
      CHECK(last_calls == 1);
    }
  }
}

TEST_CASE("an observer is told when workers work, and when they wait for each other" *
          doctest::test_suite("schedules")) {
  for (const int workers : {1, 2, 4}) {
    CAPTURE(workers);
    WorkerPool pool(places(workers));
    PhaseListener listener(workers);
    pool.run([](int) {});
    pool.observe(&listener, 7);
    pool.run([](int) {});
    CHECK(listener.told[0] == "cw7c");  // it goes on when all are back
    for (std::size_t w = 1; w < listener.told.size(); ++w) CHECK(listener.told[w] == "cw7");

    listener.told.assign(listener.told.size(), "");
    pool.run([&](int) { pool.barrier(); });
    int in_barrier = 0;  // all but the last one, which does not wait
    for (std::size_t w = 0; w < listener.told.size(); ++w) {
      const std::string end = w == 0 ? "c" : "";
      const bool waited = listener.told[w] == "cw7cw7" + end;
      CHECK((waited || listener.told[w] == "cw7" + end));
      in_barrier += waited ? 1 : 0;
    }
    CHECK(in_barrier == workers - 1);

    listener.told.assign(listener.told.size(), "");
    CHECK_THROWS_AS(pool.run([](int) { throw Error("no more"); }), Error);
    for (std::size_t w = 0; w < listener.told.size(); ++w)
      CHECK(listener.told[w] == (w == 0 ? "cw7c" : "cw7"));
    pool.observe(nullptr);
    pool.run([](int) {});
    CHECK(listener.told[0] == "cw7c");
  }
}

/// CPUs that this thread may run on.
int cpus_here() {
  cpu_set_t cpus;
  REQUIRE(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
  return CPU_COUNT(&cpus);
}

TEST_CASE("what runs unpinned, and the threads that it starts, may use all CPUs that the pool's maker had") {
  const int before = cpus_here();
  const WorkerPool pool(places(1));
  int inside = 0, of_its_thread = 0;
  pool.run_unpinned([&] {
    inside = cpus_here();
    std::thread([&] { of_its_thread = cpus_here(); }).join();
  });
  CHECK(inside == before);
  CHECK(of_its_thread == before);
  CHECK(cpus_here() == 1);  // the caller stays where it was
  CHECK_THROWS_WITH_AS(pool.run_unpinned([] { throw Error("full"); }), "full", Error);
}

TEST_CASE("for_each stops handing out after an exception" * doctest::test_suite("schedules")) {
  WorkerPool pool(places(2));
  std::atomic<std::uint64_t> calls{0};
  CHECK_THROWS_AS(pool.for_each(1'000'000'000'000ULL,
                                [&](int, std::uint64_t) {
                                  if (calls.fetch_add(1) == 100) throw Error("full");
                                }),
                  Error);
  CHECK(calls.load() > 100);
}

TEST_CASE("a pool without workers is refused") { CHECK_THROWS_AS(WorkerPool(topology::Placement{}), Error); }

}  // namespace
}  // namespace edgewire::topology
