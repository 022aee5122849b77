// Tasks in one process and in several.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "schedule.h"
#include "task_runs.h"
#include "tasks/memo.h"

namespace edgewire::tasks {
namespace {

using Number = std::uint64_t;
Number number_of(const std::string& bytes) {
  INFO(bytes);
  return from_bytes<Number>(bytes);
}

struct Sum {
  Number left, sum;
};

struct Fibonacci {
  Registry registry;
  FunctionId id;
  Fibonacci() {
    id = registry.add("fibonacci", [this](Context& task) -> Task {
      const auto n = task.argument<Number>();
      if (n < 2) co_return to_bytes(n);
      const Ref a = task.spawn(id, to_bytes(n - 1)), b = task.spawn(id, to_bytes(n - 2));
      const auto first = from_bytes<Number>(co_await task.take(a));
      co_return to_bytes(first + from_bytes<Number>(co_await task.take(b)));
    });
  }
};

TEST_CASE("tasks that spawn and wait give the same result in any number of workers and processes" *
          doctest::test_suite("schedules")) {
  const Fibonacci tasks;
  const Number n = is_scheduled() ? 10 : 16;
  for (const Cut& cut : kCuts) {
    const auto outcome = run(cut, tasks.registry, tasks.id, to_bytes(n), 3);
    CHECK(number_of(outcome.results[0]) == (n == 10 ? 55 : 987));
    Number ended = 0;
    for (const auto& figures : outcome.figures) ended += figures.tasks;
    CHECK(ended == (n == 10 ? 177 : 3193));  // 2 * fibonacci(n + 1) - 1
  }
}

TEST_CASE("a task runs in the process that it is meant for, with its arguments and references") {
  Registry registry;
  const auto where = registry.add("where", [](Context& task) -> Task {
    co_return to_bytes(Number{static_cast<Number>(task.process())}) + std::string(task.arguments()) +
        (co_await task.get(task.refs()[0])).bytes + (co_await task.get(task.refs()[1])).bytes;
  });
  const auto text =
      registry.add("text", [](Context& task) -> Task { co_return std::string(task.arguments()); });
  const auto root = registry.add("root", [=](Context& task) -> Task {
    std::string all;
    for (int p = 0; p < task.processes(); ++p)
      for (const std::size_t bytes : {0, 1, 32, 112, 5'000, 3'000'000}) {
        const std::string arguments(bytes, 'a');
        const Ref b = task.spawn(text, std::string(bytes, 'b'), {}, (p + 1) % task.processes());
        const Ref c = task.spawn(text, "c");
        const std::string found = (co_await task.take(task.spawn(where, arguments, {b, c}, p))).bytes;
        if (found != to_bytes(Number{static_cast<Number>(p)}) + arguments + std::string(bytes, 'b') + "c")
          throw Error("wrong bytes");
      }
    co_return "right";
  });
  for (const Cut& cut : kCuts) CHECK(result_of(cut, registry, root) == "right");
}

TEST_CASE("the result of a task that spawns its tail is that of the last task" *
          doctest::test_suite("schedules")) {
  Registry registry;
  FunctionId count = 0;
  count = registry.add("count", [&count](Context& task) -> Task {
    const auto [left, sum] = task.argument<Sum>();
    if (left == 0) co_return to_bytes(sum);
    co_return task.tail_spawn(count, to_bytes(Sum{left - 1, sum + left}), {},
                              static_cast<int>(left) % task.processes());
  });
  for (const Cut& cut : kCuts)
    CHECK(number_of(result_of(cut, registry, count, to_bytes(Sum{Number{300}, Number{0}}))) == 45'150);
}

TEST_CASE("a suspended task leaves its worker to others, and many wait for one result" *
          doctest::test_suite("schedules")) {
  Registry registry;
  const auto gate = registry.add("gate", [](Context&) -> Task { co_return "open"; });
  const auto wait =
      registry.add("wait", [](Context& task) -> Task { co_return co_await task.get(task.refs()[0]); });
  const auto root = registry.add("root", [=](Context& task) -> Task {
    // The newest task runs first: all of them wait before the gate opens.
    const Ref result = task.spawn(gate, {}, {}, task.processes() - 1);
    std::vector<Ref> all;
    for (int i = 0; i < 100; ++i) all.push_back(task.spawn(wait, {}, {result}, i % task.processes()));
    std::string joined;
    for (const Ref& ref : all) joined += (co_await task.take(ref)).bytes;
    co_return to_bytes(Number{joined.size()});
  });
  for (const Cut& cut : kCuts) CHECK(number_of(result_of(cut, registry, root)) == 400);
  CHECK(run({1, 1, "shm"}, registry, root).figures[0].suspensions >= 100);
}

TEST_CASE("workers and processes that have nothing to do take tasks of others" *
          doctest::test_suite("schedules")) {
  Registry registry;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  std::size_t expected = 0;
  std::chrono::steady_clock::time_point deadline;
  FunctionId busy = 0;
  busy = registry.add("busy", [&](Context& task) -> Task {
    bool all_have_one = false;
    {
      const std::scoped_lock lock(mutex);
      threads.insert(std::this_thread::get_id());
      all_have_one = threads.size() >= expected || std::chrono::steady_clock::now() > deadline;
    }
    // Until then its worker is busy, and looks in between who asks for work.
    if (!all_have_one) co_return task.tail_spawn(busy);
    co_return "";
  });
  const auto root = registry.add("root", [&](Context& task) -> Task {
    std::vector<Ref> all;
    for (int i = 0; i < rounds(200); ++i) all.push_back(task.spawn(busy));
    for (const Ref& ref : all) co_await task.take(ref);
    co_return "";
  });
  for (const Cut& cut : kCuts) {
    threads.clear();
    expected = static_cast<std::size_t>(cut.processes) * static_cast<std::size_t>(cut.workers);
    deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const auto outcome = run(cut, registry, root);
    CHECK(threads.size() == expected);
    for (const auto& figures : outcome.figures) CHECK(figures.tasks > 0);
    CHECK((outcome.figures[0].tasks_moved > 0) == (cut.processes > 1));
  }
}

TEST_CASE("a task goes to the process that owns most of its references") {
  Registry registry;
  const auto there = registry.add("there", [](Context& task) -> Task {
    co_return to_bytes(Number{static_cast<Number>(task.process())});
  });
  // Gives two references that its process owns.
  const auto two = registry.add("two", [=](Context& task) -> Task {
    co_return Result{{}, {task.spawn(there, {}, {}, 0), task.spawn(there, {}, {}, 0)}};
  });
  const auto root = registry.add("root", [=](Context& task) -> Task {
    const auto far = (co_await task.take(task.spawn(two, {}, {}, 1))).refs;
    const Ref near = task.spawn(there);
    co_return co_await task.take(task.spawn(there, {}, {far[0], near, far[1]}));
  });
  CHECK(number_of(result_of({2, 1, "shm"}, registry, root)) == 1);
}

TEST_CASE("a task that throws ends the job with its name, process and message" *
          doctest::test_suite("schedules")) {
  Registry registry;
  const auto broken = registry.add("broken", [](Context& task) -> Task {
    if (task.processes() > 0) throw Error("the disk is on fire");
    co_return "";
  });
  const auto root = registry.add("root", [=](Context& task) -> Task {
    std::vector<Ref> waiting;
    for (int i = 0; i < 50; ++i) waiting.push_back(task.spawn(broken, {}, {}, task.processes() - 1));
    co_return co_await task.take(waiting[0]);
  });
  for (const Cut& cut : kCuts) {
    const auto outcome = run(cut, registry, root);
    const auto message =
        "task broken in process " + std::to_string(cut.processes - 1) + ": the disk is on fire";
    for (const auto& result : outcome.results) {
      INFO(result);
      CHECK(result.starts_with("error: "));
      CHECK(result.find(message) != result.npos);
    }
  }
}

/// Runs a root that must fail in process 0, or in any.
void check_fails(const Cut& cut, const Registry& registry, FunctionId root, const std::string& words) {
  const auto outcome = run(cut, registry, root);
  for (const auto& result : outcome.results) {
    INFO(result);
    CHECK(result.starts_with("error: "));
    CHECK(result.find(words) != result.npos);
  }
}

TEST_CASE("tasks that wait for each other are an error" * doctest::test_suite("schedules")) {
  Registry registry;
  const auto child =
      registry.add("child", [](Context& task) -> Task { co_return co_await task.get(task.refs()[0]); });
  const auto parent = registry.add("parent", [=](Context& task) -> Task {
    co_return co_await task.get(task.spawn(child, {}, {task.self()}, task.processes() - 1));
  });
  for (const Cut& cut : kCuts)
    check_fails(cut, registry, parent, "no task can run: 2 wait for results that never come, such as ");
  const auto alone =
      registry.add("alone", [](Context& task) -> Task { co_return co_await task.get(task.self()); });
  check_fails({1, 2, "shm"}, registry, alone,
              "1 waits for results that never come, such as alone in process 0");
}

TEST_CASE("a long task is no reason to give up") {
  Registry registry;
  const auto slow = registry.add("slow", [](Context&) -> Task {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    co_return "done";
  });
  const auto root = registry.add("root", [=](Context& task) -> Task {
    co_return co_await task.take(task.spawn(slow, {}, {}, task.processes() - 1));
  });
  for (const Cut& cut : kCuts) CHECK(result_of(cut, registry, root) == "done");
}

TEST_CASE("what no task may ask for") {
  Registry registry;
  const auto nothing = registry.add("nothing", [](Context&) -> Task { co_return ""; });
  const std::map<std::string, Function> wrong{
      {"there is no function 77: ",
       [](Context& task) -> Task { co_return co_await task.get(task.spawn(77)); }},
      {"there is no process 9: ",
       [=](Context& task) -> Task { co_return co_await task.get(task.spawn(nothing, {}, {}, 9)); }},
      {"there is no function 78: ", [](Context& task) -> Task { co_return task.tail_spawn(78); }},
      {"taken before, or never spawned", [](Context& task) -> Task { co_return co_await task.get(Ref{}); }},
      {"has 3 bytes where 8 are expected",
       [](Context&) -> Task { co_return to_bytes(from_bytes<Number>("abc")); }},
      {"result that was taken before", [=](Context& task) -> Task {
         const Ref ref = task.spawn(nothing);
         co_await task.take(ref);
         co_return co_await task.take(ref);
       }}};
  for (const auto& [words, function] : wrong) {
    Registry more = registry;
    const auto root = more.add("root", function);
    check_fails({1, 1, "shm"}, more, root, words);
    check_fails({2, 1, "shm"}, more, root, words);
  }
  // The same of a result that another process owns.
  const auto twice = registry.add("twice", [](Context& task) -> Task {
    co_await task.take(task.refs()[0]);
    co_return co_await task.take(task.refs()[0]);
  });
  const auto root = registry.add("root", [=](Context& task) -> Task {
    co_return co_await task.get(task.spawn(twice, {}, {task.spawn(nothing)}, 1));
  });
  check_fails({2, 1, "shm"}, registry, root, "process 1 waits for a result that was taken before");
}

TEST_CASE("processes that differ in their functions refuse each other") {
  auto members = launch::bootstraps(2);
  std::vector<std::string> said(2);
  std::vector<std::jthread> threads;
  for (std::size_t p = 0; p < 2; ++p)
    threads.emplace_back([&, p] {
      Registry registry;
      registry.add(p == 0 ? "one" : "other", [](Context&) -> Task { co_return ""; });
      try {
        const TaskJob job(*members[p], registry, {});
      } catch (const Error& error) {
        said[p] = error.what();
      }
    });
  threads.clear();
  for (const auto& line : said) CHECK(line.find("other") != line.npos);
}

TEST_CASE("phases are measured when they are asked for") {
  const Fibonacci tasks;
  for (const bool measure : {false, true}) {
    Figures sum;
    for (const auto& one :
         run({2, 1, "shm"}, tasks.registry, tasks.id, to_bytes(Number{16}), 1, measure).figures) {
      sum.spawn_ns += one.spawn_ns;
      sum.queue_ns += one.queue_ns;
      sum.run_ns += one.run_ns;
    }
    CHECK((sum.spawn_ns > 0) == measure);
    CHECK((sum.queue_ns > 0) == measure);
    CHECK((sum.run_ns > 0) == measure);
  }
}

TEST_CASE("tasks that send much do not stop each other, and memory is bounded") {
  Registry registry;
  const auto echo =
      registry.add("echo", [](Context& task) -> Task { co_return std::string(task.arguments()); });
  const auto flood = registry.add("flood", [=](Context& task) -> Task {
    std::vector<Ref> all;
    const int other = (task.process() + 1) % task.processes();
    for (int i = 0; i < 3'000; ++i) all.push_back(task.spawn(echo, std::string(2'000, 'x'), {}, other));
    Number bytes = 0;
    for (const Ref& ref : all) bytes += (co_await task.take(ref)).bytes.size();
    co_return to_bytes(bytes);
  });
  const auto root = registry.add("root", [=](Context& task) -> Task {
    std::vector<Ref> all;
    for (int p = 0; p < task.processes(); ++p) all.push_back(task.spawn(flood, {}, {}, p));
    Number bytes = 0;
    for (const Ref& ref : all) bytes += from_bytes<Number>(co_await task.take(ref));
    co_return to_bytes(bytes);
  });
  for (const Cut& cut : kCuts)
    CHECK(number_of(result_of(cut, registry, root)) ==
          Number{6'000'000} * static_cast<Number>(cut.processes));
}

TEST_CASE("tasks of other parents, numbers, functions or arguments have other names") {
  const Spawn spawn{3, "arguments"};
  const Name name = Memo::name_of(Memo::kFirst, 0, spawn);
  CHECK(name == Memo::name_of(Memo::kFirst, 0, Spawn{3, "arguments", {Ref::of(1, 2, 3)}, 1}));
  for (const Name& other : {Memo::name_of(name, 0, spawn), Memo::name_of(Memo::kFirst, 1, spawn),
                            Memo::name_of(Memo::kFirst, 0, Spawn{4, "arguments"}),
                            Memo::name_of(Memo::kFirst, 0, Spawn{3, "argument"})})
    CHECK(other != name);
}

// References go beside bytes, never in them.
template <class T>
concept HasBytes = requires(T value) {
  to_bytes(value);
};
static_assert(HasBytes<Sum> && HasBytes<std::array<Number, 2>>);
static_assert(!HasBytes<Ref> && !HasBytes<std::array<Ref, 2>> && !HasBytes<Result>);

TEST_CASE("a memo keeps results until they are forgotten, but none that have references") {
  Memo memo;
  const Name one = Memo::name_of(Memo::kFirst, 1, {}), two = Memo::name_of(Memo::kFirst, 2, {});
  const std::string small =
      to_bytes(std::array{std::uint32_t{1}, std::uint32_t{1}});  // the bits of a reference
  memo.keep(one, {small, {}});
  memo.keep(two, {"result", {Ref::of(1, 1, 7)}});
  memo.keep(Name{}, {"of no task", {}});
  CHECK(memo.find(one) == small);
  CHECK(!memo.find(two));
  CHECK(!memo.find(Name{}));
  CHECK(memo.found() == 1);
  memo.forget(std::array{one});
  CHECK(!memo.find(one));
}

TEST_CASE("references of a result come along with its bytes" * doctest::test_suite("schedules")) {
  Registry registry;
  const auto text =
      registry.add("text", [](Context& task) -> Task { co_return std::string(task.arguments()); });
  const auto three = registry.add("three", [=](Context& task) -> Task {
    std::vector<Ref> refs;
    for (const char* letter : {"a", "b", "c"}) refs.push_back(task.spawn(text, letter));
    co_return Result{std::string(task.arguments()), refs};
  });
  const auto root = registry.add("root", [=](Context& task) -> Task {
    const Result found =
        co_await task.take(task.spawn(three, std::string(500, 'x'), {}, task.processes() - 1));
    std::string joined = found.bytes;
    for (const Ref& ref : found.refs) joined += (co_await task.take(ref)).bytes;
    co_return joined;
  });
  for (const Cut& cut : kCuts) CHECK(result_of(cut, registry, root) == std::string(500, 'x') + "abc");
  check_fails({2, 1, "shm"}, registry, three, "the first task returns references");
}

TEST_CASE("a job that may be tried again gives the same results" * doctest::test_suite("schedules")) {
  const Fibonacci tasks;
  for (const Cut& cut : kCuts) {
    auto members = launch::bootstraps(cut.processes);
    std::vector<Number> found(3);
    std::vector<std::jthread> threads;
    for (std::size_t p = 0; p < members.size(); ++p)
      threads.emplace_back([&, p] {
        process::ProcessOptions options;
        options.workers = cut.workers;
        options.peer_timeout_s = 100;
        options.transport = cut.transport;
        TaskJob job(*members[p], tasks.registry, options, {}, true);
        for (Number& number : found) {
          const auto result = job.run(tasks.id, to_bytes(Number{14}));
          if (p == 0) number = number_of(result);
          CHECK(job.figures().results_kept == 0);
        }
        members[p]->finish();
      });
    threads.clear();
    CHECK(found == std::vector<Number>(3, 377));
  }
}

}  // namespace
}  // namespace edgewire::tasks
