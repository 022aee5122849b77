#include "perf/bench/shapes.h"

#include <memory>

namespace edgewire::bench {

using namespace tasks;

namespace {

using Number = std::uint64_t;

struct Functions {
  FunctionId add_one, combine, yield, iterative_j;
};

/// The arguments of first tasks, and of those that go on for them.
struct Progress {
  Number done, count, width, number;
};

int turn(const Context& task, Number i) {
  return static_cast<int>(i % static_cast<Number>(task.processes()));
}

Task add_one(Context& task) { co_return to_bytes(task.argument<Number>() + 1); }

/// Arguments: the number that both have added to.
Task combine(Context& task) {
  const auto before = task.argument<Number>();
  Get first = task.take(task.refs()[0]), second = task.take(task.refs()[1]);
  const auto sum = from_bytes<Number>(co_await first) + from_bytes<Number>(co_await second);
  co_return to_bytes(sum - before);
}

Task number_inc(Context& task, Functions ids) {
  auto [done, count, width, number] = task.argument<Progress>();
  for (; done < count; ++done) {
    const std::string before = to_bytes(number);
    const Ref a = task.spawn(ids.add_one, before, {}, turn(task, 2 * done));
    const Ref b = task.spawn(ids.add_one, before, {}, turn(task, 2 * done + 1));
    const Ref sum = task.spawn(ids.combine, before, {a, b}, turn(task, done));
    number = from_bytes<Number>(co_await task.take(sum));
  }
  co_return to_bytes(number);
}

Task yield(Context& task, Functions ids) {
  auto progress = task.argument<Progress>();
  if (progress.done == progress.count) co_return to_bytes(progress.number);
  ++progress.done;
  ++progress.number;
  co_return task.tail_spawn(ids.yield, to_bytes(progress), {}, turn(task, progress.done));
}

Task suspend(Context& task, Functions ids) {
  auto [done, count, width, number] = task.argument<Progress>();
  for (; done < count; ++done) {
    const Ref more = task.spawn(ids.add_one, to_bytes(number), {}, turn(task, done + 1));
    number = from_bytes<Number>(co_await task.take(more));
  }
  co_return to_bytes(number);
}

std::vector<Ref> fan_out(Context& task, Functions ids, Number width) {
  std::vector<Ref> refs;
  for (Number i = 0; i < width; ++i)
    refs.push_back(task.spawn(ids.add_one, to_bytes(Number{0}), {}, turn(task, i)));
  return refs;
}

Task iterative(Context& task, Functions ids) {
  auto [done, count, width, number] = task.argument<Progress>();
  for (; done < count; ++done) {
    const auto refs = fan_out(task, ids, width);
    for (const Ref& ref : refs) number += from_bytes<Number>(co_await task.take(ref));
  }
  co_return to_bytes(number);
}

/// Takes the results of the round before, starts the next one, and goes on as a new task.
Task iterative_j(Context& task, Functions ids) {
  auto progress = task.argument<Progress>();
  for (const Ref& ref : task.refs()) progress.number += from_bytes<Number>(co_await task.take(ref));
  if (progress.done == progress.count) co_return to_bytes(progress.number);
  ++progress.done;
  co_return task.tail_spawn(ids.iterative_j, to_bytes(progress), fan_out(task, ids, progress.width),
                            task.process());
}

}  // namespace

FunctionId add_shapes(Registry& registry, Shape shape) {
  const auto ids = std::make_shared<Functions>();
  const auto add = [&](const char* name, Task (*function)(Context&, Functions)) {
    return registry.add(name, [ids, function](Context& task) { return function(task, *ids); });
  };
  ids->add_one = registry.add("add_one", add_one);
  ids->combine = registry.add("combine", combine);
  ids->yield = add("yield", yield);
  ids->iterative_j = add("iterative_j", iterative_j);
  const FunctionId all[] = {add("number_inc", number_inc), ids->yield, add("suspend", suspend),
                            add("iterative", iterative), ids->iterative_j};  // [Shape]
  return all[static_cast<std::size_t>(shape)];
}

std::string first_arguments(const ShapeSize& size) {
  return to_bytes(Progress{0, size.count, size.width, 0});
}

std::uint64_t number_of(const ShapeSize& size) {
  if (size.shape == Shape::number_inc) return 2 * size.count;
  return size.shape < Shape::iterative ? size.count : size.count * size.width;
}

}  // namespace edgewire::bench
