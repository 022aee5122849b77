#include "perf/bench/grains.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "task_runs.h"

namespace edgewire::bench {

using namespace tasks;
namespace {

std::uint64_t run_grains(const Cut& cut, const Grains& grains) {
  Registry registry;
  const auto root = add_grains(registry);
  const std::string bytes = result_of(cut, registry, root, to_bytes(grains), 2);
  INFO(bytes);
  return from_bytes<std::uint64_t>(bytes);
}

TEST_CASE("rows of tasks wait for the row before") {
  // Three columns: each sum is worked out from the one of the row before.
  std::array<std::uint64_t, 3> sums{1, 2, 3};
  for (std::uint64_t t = 1; t < 20; ++t)
    sums = {t * 1'000'003 + 1 + sums[0] + sums[1], t * 1'000'003 + 2 + sums[0] + sums[1] + sums[2],
            t * 1'000'003 + 3 + sums[1] + sums[2]};
  for (const Cut& cut : kCuts)
    CHECK(run_grains(cut, {Pattern::stencil, 3, 20, 100}) == sums[0] + sums[1] + sums[2]);
  CHECK(run_grains({2, 1, "shm"}, {Pattern::fft, 1, 1, 0}) == 1);
}

std::vector<std::uint32_t> row_of(const Grains& grains, std::uint32_t t, std::uint32_t i) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t j = 0; j < grains.width; ++j)
    if (waits_for(grains, t, i, j)) found.push_back(j);
  return found;
}

TEST_CASE("which tasks of the row before a task waits for") {
  const Grains stencil{Pattern::stencil, 8, 9, 0}, fft{Pattern::fft, 8, 9, 0},
      random{Pattern::random, 64, 9, 0};
  using List = std::vector<std::uint32_t>;
  CHECK(row_of(stencil, 5, 0) == List{0, 1});
  CHECK(row_of(stencil, 5, 4) == List{3, 4, 5});
  CHECK(row_of(fft, 1, 4) == List{3, 4, 5});
  CHECK(row_of(fft, 2, 4) == List{2, 4, 6});
  CHECK(row_of(fft, 3, 3) == List{3, 7});
  CHECK(row_of(fft, 4, 4) == List{3, 4, 5});
  std::size_t neighbours = 0;
  for (std::uint32_t t = 1; t < 100; ++t)
    for (std::uint32_t i = 10; i < 54; ++i) {
      const auto found = row_of(random, t, i);
      CHECK(std::ranges::count(found, i) == 1);
      CHECK(found.front() + 5 >= i);
      CHECK(found.back() <= i + 5);
      neighbours += found.size() - 1;
    }
  const double mean = static_cast<double>(neighbours) / (99 * 44);
  CHECK(mean > 2.2);
  CHECK(mean < 2.8);
}

}  // namespace
}  // namespace edgewire::bench
