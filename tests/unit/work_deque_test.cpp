// What the workers of a process share while they run tasks: their deques, and the places of results.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "schedule.h"
#include "tasks/future.h"
#include "tasks/worker.h"
#include "transport_fixture.h"

namespace edgewire::tasks {
namespace {

TEST_CASE("the owner of a deque takes the newest task, thieves take the oldest, and each task goes to one" *
          doctest::test_suite("schedules")) {
  constexpr int kThieves = 3;
  const auto tasks = static_cast<std::uint32_t>(rounds(4000));
  WorkDeque deque;
  std::vector<std::uint32_t> taken(tasks);  // whoever takes a task alone counts it
  std::atomic<bool> pushed{false};
  const auto number_of = [](const Context& task) { return task.self().index(); };
  CHECK_NOTHROW(transport::parallel(1 + kThieves, [&](int thread) {
    if (thread == 0) {
      std::minstd_rand random(7);
      for (std::uint32_t next = 0; next < tasks;) {
        for (auto burst = 1 + random() % 5; burst > 0 && next < tasks; --burst)
          deque.push(new Context({}, Ref::of(0, 1, next++)));
        const std::unique_ptr<Context> newest(random() % 2 == 0 ? deque.pop() : nullptr);
        if (!newest) continue;
        transport::require(number_of(*newest) < next, "a task that was never there");
        ++taken[number_of(*newest)];
      }
      while (const std::unique_ptr<Context> newest{deque.pop()}) ++taken[number_of(*newest)];
      pushed = true;
      return;
    }
    std::int64_t last = -1;
    const auto least = static_cast<std::size_t>(thread == 1 ? 2 : 1);
    while (!pushed) {
      const std::unique_ptr<Context> oldest(
          deque.steal(least, [&](const Context& task) { return thread < 3 || number_of(task) % 3 > 0; }));
      if (!oldest) continue;
      transport::require(number_of(*oldest) > last, "a thief takes the oldest task first");
      transport::require(thread < 3 || number_of(*oldest) % 3 > 0, "a task that was not to go");
      last = number_of(*oldest);
      ++taken[number_of(*oldest)];
    }
  }));
  CHECK(taken == std::vector<std::uint32_t>(tasks, 1));
  CHECK(deque.size() == 0);
}

TEST_CASE("workers get places for results of their own, which others find until they are released" *
          doctest::test_suite("schedules")) {
  constexpr std::size_t kWorkers = 3;
  const auto turns = static_cast<std::size_t>(rounds(2000));
  FutureTable table;
  // Relaxed: a reference may have come back through another process.
  std::vector<std::atomic<std::uint64_t>> shown(
      kWorkers);  // a place in the generation that its worker uses now
  const auto find_that_of = [&](std::uint64_t worker) {
    const std::uint64_t other = shown[worker % kWorkers].load(std::memory_order_relaxed);
    if (other == 0) return;
    const auto index = static_cast<std::uint32_t>(other);
    const Future* const found = table.find(Ref::of(0, static_cast<std::uint32_t>(other >> 32), index));
    transport::require(found == nullptr || found->index == index, "another place is found");
  };
  CHECK_NOTHROW(transport::parallel(kWorkers + 1, [&](int worker) {
    if (worker == kWorkers) {  // has no places of its own
      for (std::size_t turn = 0; turn < turns; ++turn) find_that_of(turn);
      return;
    }
    FutureTable::Free free;
    std::vector<Future*> mine;
    const auto self = static_cast<std::uint64_t>(worker);
    std::minstd_rand random(static_cast<std::uint32_t>(worker) + 1);
    for (std::size_t turn = 0; turn < turns; ++turn) {
      Future& future = table.allocate(free);
      transport::require(future.value.bytes.empty() && !future.is_done(), "a place that is in use");
      future.value.bytes = std::to_string(self);
      mine.push_back(&future);
      const Ref ref = Ref::of(0, future);
      shown[self].store(std::uint64_t{ref.generation()} << 32 | ref.index(), std::memory_order_relaxed);
      transport::require(table.find(ref) == &future, "a place is not found");
      find_that_of(self + 1);
      if (random() % 3 > 0) continue;
      std::swap(mine[random() % mine.size()], mine.back());
      const Ref last = Ref::of(0, *mine.back());
      transport::require(mine.back()->value.bytes == std::to_string(self), "two workers use a place");
      table.release(*mine.back(), free);
      mine.pop_back();
      transport::require(table.find(last) == nullptr, "a place is found after its release");
    }
  }));
}

}  // namespace
}  // namespace edgewire::tasks
