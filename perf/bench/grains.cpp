#include "perf/bench/grains.h"
#include "base/mixing.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <vector>

namespace edgewire::bench {

using namespace tasks;

namespace {

using Number = std::uint64_t;
constexpr std::uint32_t kFarthest = 5;  // of random neighbours
constexpr std::size_t kRowsAhead = 8;

struct Grain {
  std::uint32_t step, column;
  std::uint64_t work;
};

/// With a chance of 1/4.
bool is_drawn(std::uint32_t t, std::uint32_t i, std::uint32_t j) {
  std::uint64_t mixed = (std::uint64_t{t} << 40) + (std::uint64_t{i} << 20) + j;
  mixed = (mixed ^ (mixed >> 31)) * kMixFactor;
  return (mixed >> 62) == 0;
}

Task grain(Context& task) {
  const auto [step, column, work] = task.argument<Grain>();
  Number sum = Number{step} * 1'000'003 + column + 1;
  std::deque<Get> gets;  // all are asked for before the first one is waited for
  for (const Ref& ref : task.refs()) gets.emplace_back(task, ref, false);
  for (Get& get : gets) sum += from_bytes<Number>(co_await get);
  work_for(work);
  co_return to_bytes(sum);
}

/// Starts all tasks, row by row, some rows ahead of what has ended, so that results are asked for before they
/// are needed. A process has a stretch of the columns.
Task grow(Context& task, FunctionId grain_id) {
  const auto grains = task.argument<Grains>();
  const auto processes = static_cast<std::uint64_t>(task.processes());
  std::deque<std::vector<Ref>> rows(1);
  for (std::uint32_t t = 0; t < grains.steps; ++t) {
    std::vector<Ref> row;
    for (std::uint32_t i = 0; i < grains.width; ++i) {
      std::vector<Ref> refs;
      for (std::uint32_t j = 0; j < rows.back().size(); ++j)
        if (waits_for(grains, t, i, j)) refs.push_back(rows.back()[j]);
      row.push_back(task.spawn(grain_id, to_bytes(Grain{t, i, grains.work}), std::move(refs),
                               static_cast<int>(i * processes / grains.width)));
    }
    rows.push_back(std::move(row));
    if (rows.size() <= kRowsAhead) continue;
    for (const Ref& ref : rows.front()) co_await task.get(ref);
    rows.pop_front();
  }
  Number sum = 0;
  for (const Ref& ref : rows.back()) sum += from_bytes<Number>(co_await task.get(ref));
  co_return to_bytes(sum);
}

}  // namespace

void work_for(std::uint64_t multiplications) {
  Number x = multiplications;
  for (std::uint64_t i = 0; i < multiplications; ++i) x = x * 6364136223846793005U + 1442695040888963407U;
  asm volatile("" : : "r"(x));  // so that it is computed
}

bool waits_for(const Grains& grains, std::uint32_t t, std::uint32_t i, std::uint32_t j) {
  const std::uint32_t distance = i > j ? i - j : j - i;
  if (grains.pattern == Pattern::stencil) return distance <= 1;
  if (grains.pattern == Pattern::fft) {
    const auto bits = std::max(1U, static_cast<std::uint32_t>(std::bit_width(grains.width - 1)));
    return distance == 0 || distance == 1U << ((t - 1) % bits);
  }
  return distance == 0 || (distance <= kFarthest && is_drawn(t, i, j));
}

FunctionId add_grains(Registry& registry) {
  const auto id = registry.add("grain", grain);
  return registry.add("grow", [id](Context& task) { return grow(task, id); });
}

}  // namespace edgewire::bench
