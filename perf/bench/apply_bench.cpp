// Measures the second half of an iteration, which makes values and messages of vertices from the sums of
// their column. EDGEWIRE_BENCH_SCALE sets the number of vertices (default 22: 2^22).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/rooms.h"
#include "edgewire/detail/program_loops.h"
#include "kernels/pagerank.h"
#include "topology/machine.h"
#include "topology/placement.h"
#include "topology/worker_pool.h"

namespace {

using namespace edgewire;

std::uint32_t vertices() {
  const char* const scale = std::getenv("EDGEWIRE_BENCH_SCALE");
  return std::uint32_t{1} << (scale != nullptr ? std::clamp(std::atoi(scale), 1, 30) : 22);
}

template <class Offered>
void apply_pagerank(benchmark::State& state) {
  const std::uint32_t count = vertices();
  std::vector<std::uint32_t> bounds{0};
  while (bounds.back() < count) bounds.push_back(std::min(count, bounds.back() + tiles::kColumnWidth));
  const tiles::Tiles no_edges;
  const tiles::TileOrder order(bounds);
  kernels::PageRank<Offered> program({}, count);
  engine::ProgramLoops loops(program, count, no_edges, order, {});
  topology::WorkerPool pool(topology::place(topology::discover(), 0, 1, 1));
  const detail::PackedTotals totals = loops.start(
      pool, [&](std::uint32_t) { return std::pair(program.start_rank(), Offered{1} / Offered{16}); });
  const topology::NodeMemory memory(order.most() * sizeof(double), -1, "accumulators",
                                    topology::Begin::staggered);
  std::ranges::fill(memory.as<double>(), program.start_rank());
  while (state.KeepRunning()) {
    for (std::size_t c = 0; c + 1 < bounds.size(); ++c)
      benchmark::DoNotOptimize(
          loops.apply(bounds[c], memory.as<std::byte>().data(), bounds[c + 1] - bounds[c], totals));
    loops.advance();
  }
  state.counters["s/vertex"] =
      benchmark::Counter(count, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

BENCHMARK(apply_pagerank<float>)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(apply_pagerank<double>)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
