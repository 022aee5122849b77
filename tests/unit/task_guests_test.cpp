// Tasks that wait for the result of a task that runs in their own process, but whose result another process
// owns.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "schedule.h"
#include "task_runs.h"
#include "tasks/future.h"

namespace edgewire::tasks {
namespace {

TEST_CASE("who waits here for a task that is here is named when it ends or leaves") {
  Guests guests;
  const Ref here = Ref::of(1, 7, 42), later = Ref::of(1, 8, 42), elsewhere = Ref::of(2, 7, 42);
  Future first, second, third;
  CHECK(!guests.wait(here, first));
  CHECK(guests.end(here).empty());
  guests.add(here);
  CHECK(guests.wait(here, first));
  CHECK(guests.wait(here, second));
  CHECK(!guests.wait(later, third));  // the same place, used again
  CHECK(!guests.wait(elsewhere, third));
  guests.add(here);  // it goes on as a new task, which comes back
  CHECK(guests.end(here) == std::vector{&first, &second});
  CHECK(!guests.wait(here, third));
  CHECK(guests.end(here).empty());
  guests.add(later);
  CHECK(guests.wait(later, third));
  guests.clear();
  CHECK(!guests.wait(later, third));
  CHECK(guests.end(later).empty());
}

/// Until others have done something. False when they do not, after a time that no machine is too busy for.
bool wait_for(const std::atomic<int>& count, int least) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (count < least && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return count >= least;
}

/// `hop` runs in process 1 and its result belongs to process 0. Two tasks of process 1 wait for it. Then it
/// goes on by tail_spawn in the processes of its argument, one after the other, a letter for each, and its
/// result is "end".
struct Hops {
  Registry registry;
  FunctionId hop, reader, root;
  std::atomic<int> waiting{0}, served{0};
  bool owner_is_busy;  ///< until both are served: it cannot answer them
  std::string path;
  bool served_while_busy = false;

  Hops(std::string processes, bool busy) : owner_is_busy(busy), path(std::move(processes)) {
    hop = registry.add("hop", [this](Context& task) -> Task {
      const std::string_view left = task.arguments();
      if (left.empty()) co_return "end";
      // The newest task runs first: the readers arrive after this task, and run before it goes on.
      if (waiting < 2) co_return task.tail_spawn(hop, std::string(left), {}, task.process());
      co_return task.tail_spawn(hop, std::string(left.substr(1)), {}, left[0] - '0');
    });
    reader = registry.add("reader", [this](Context& task) -> Task {
      Get result = task.get(task.refs()[0]);
      ++waiting;
      const std::string found = (co_await result).bytes;
      ++served;
      co_return found;
    });
    const FunctionId busy_owner = registry.add("busy owner", [this](Context&) -> Task {
      served_while_busy = wait_for(served, 2);
      co_return "";
    });
    root = registry.add("root", [this, busy_owner](Context& task) -> Task {
      const Ref result = task.spawn(hop, path, {}, 1);
      const Ref a = task.spawn(reader, {}, {result}, 1), b = task.spawn(reader, {}, {result}, 1);
      if (owner_is_busy) co_await task.take(task.spawn(busy_owner, {}, {}, 0));
      std::string all = (co_await task.take(a)).bytes;
      all += (co_await task.take(b)).bytes;
      co_return all + (co_await task.take(result)).bytes;
    });
  }
};

TEST_CASE(
    "who waits where a task runs has its result while the owner is busy, also after a tail_spawn there") {
  for (const char* transport : {"shm", "tcp"})
    for (const char* path : {"1", "111"}) {
      Hops hops(path, true);
      CHECK(result_of({2, 1, transport}, hops.registry, hops.root) == "endendend");
      CHECK(hops.served_while_busy);
    }
}

TEST_CASE("who waits where a task ran has its result when the task goes on in other processes" *
          doctest::test_suite("schedules")) {
  for (const char* transport : {"shm", "tcp"})
    for (const int workers : {1, 2})
      for (const char* path : {"0", "2", "1012", "2121", "020"}) {
        if (is_scheduled() && (workers == 1 || path[0] == '0')) continue;
        Hops hops(path, false);
        CHECK(result_of({3, workers, transport}, hops.registry, hops.root) == "endendend");
        CHECK(hops.served == 2);
      }
}

}  // namespace
}  // namespace edgewire::tasks
