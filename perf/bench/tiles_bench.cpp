// How fast tiles are built and swept, in edges a second, beside what the machine can do: reading memory in a
// row, and gathering floats at random from the L1 and L2 caches. EDGEWIRE_BENCH_SCALE sets the size of the
// graphs (default 22).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "base/rooms.h"
#include "base/seconds.h"
#include "dense/tiles/build_tiles.h"
#include "edgewire/detail/memory.h"
#include "edgewire/detail/sweep.h"
#include "perf/bench/graphs.h"
#include "topology/worker_pool.h"

namespace {

using namespace edgewire;
using perf::cut_columns, perf::GraphReader, perf::make_pool;

int scale() {
  const char* const text = std::getenv("EDGEWIRE_BENCH_SCALE");
  return text != nullptr ? std::atoi(text) : 22;
}

/// The graph "shape/order"; keeps only the last one asked for.
const perf::PlainGraph& graph_named(const std::string& name) {
  static std::string made;
  static perf::PlainGraph graph;
  if (made != name) {
    graph = {};
    graph = perf::make_graph(name.substr(0, name.find('/')), scale());
    if (name.ends_with("/degree")) graph = perf::order_by_degree(graph);
    made = name;
  }
  return graph;
}

// What one core of the machine can do; these run first.
double stream_bytes_per_s = 0;
double l2_gathers_per_s = 0;

/// The best of several runs, since the machine may be shared.
template <class Work>
double least_seconds(const Work& work) {
  double least = 1e9;
  for (int i = 0; i < 10; ++i) {
    const auto start = Clock::now();
    work();
    least = std::min(least, seconds_since(start));
  }
  return least;
}

void limit_stream(benchmark::State& state) {
  constexpr std::size_t kBytes = 512 << 20;
  const topology::NodeMemory memory(kBytes, -1, "a benchmark");
  const auto words = memory.as<std::uint64_t>();
  std::fill(words.begin(), words.end(), 1);
  while (state.KeepRunning()) {
    const double seconds = least_seconds([&] {
      std::array<std::uint64_t, 8> sums{};
      for (std::size_t i = 0; i < words.size(); i += sums.size())
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += words[i + j];
      benchmark::DoNotOptimize(sums);
    });
    stream_bytes_per_s = static_cast<double>(kBytes) / seconds;
  }
  state.counters["bytes/s"] = stream_bytes_per_s;
}

/// Sums floats of a table of state.range(0) bytes, at places given by 16-bit offsets.
void limit_gather(benchmark::State& state) {
  constexpr std::size_t kGathers = 1 << 22;
  const auto table_bytes = static_cast<std::size_t>(state.range(0));
  const topology::NodeMemory memory(kGathers * sizeof(std::uint16_t) + (2 << 20), -1, "a benchmark");
  const auto offsets = memory.as<std::uint16_t>().first(kGathers);
  const float* const table = memory.as<float>().data() + kGathers / 2;
  std::uint64_t random = 1;
  for (std::uint16_t& offset : offsets) {
    random = random * 6364136223846793005ULL + 1442695040888963407ULL;
    offset = static_cast<std::uint16_t>((random >> 40) % (table_bytes / sizeof(float)));
  }
  double rate = 0;
  while (state.KeepRunning()) {
    const double seconds = least_seconds([&] {
      std::array<double, 8> sums{};
      for (std::size_t i = 0; i < kGathers; i += sums.size())
        for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += static_cast<double>(table[offsets[i + j]]);
      benchmark::DoNotOptimize(sums);
    });
    rate = static_cast<double>(kGathers) / seconds;
  }
  l2_gathers_per_s = rate;
  state.counters["gathers/s"] = rate;
}

struct Built {
  std::string name;
  int workers = 0;
  tiles::Tiles tiles;
};

const tiles::Tiles& tiles_of(const std::string& name, topology::WorkerPool& pool) {
  static Built built;
  if (built.name != name || built.workers != pool.workers()) {
    built = {};
    const perf::PlainGraph& graph = graph_named(name);
    const auto bounds = cut_columns(graph, pool.workers());
    built = {name, pool.workers(), tiles::build_tiles(pool, GraphReader(graph, bounds), bounds)};
  }
  return built.tiles;
}

void build(benchmark::State& state, const std::string& name) {
  topology::WorkerPool pool = make_pool(static_cast<int>(state.range(0)));
  const perf::PlainGraph& graph = graph_named(name);
  const auto bounds = cut_columns(graph, pool.workers());
  const GraphReader reader(graph, bounds);
  while (state.KeepRunning()) benchmark::DoNotOptimize(tiles::build_tiles(pool, reader, bounds));
  state.counters["edges/s"] = benchmark::Counter(static_cast<double>(graph.targets.size()),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void sweep(benchmark::State& state, const std::string& name) {
  topology::WorkerPool pool = make_pool(static_cast<int>(state.range(0)));
  const tiles::Tiles& tiles = tiles_of(name, pool);
  const std::uint32_t vertices = graph_named(name).vertices();
  const topology::NodeMemory values(vertices * sizeof(float), -1, "a benchmark");
  const topology::NodeMemory results(vertices * sizeof(float), -1, "a benchmark");
  const topology::NodeMemory sums(
      static_cast<std::size_t>(pool.workers()) * tiles::kColumnWidth * sizeof(double) + (2 << 20), -1,
      "a benchmark");
  const std::span<float> x = values.as<float>();
  std::fill(x.begin(), x.end(), 1.0F / static_cast<float>(vertices));
  double least = 1e9;
  while (state.KeepRunning()) {
    const auto start = Clock::now();
    pool.for_each(tiles.columns(), [&](int worker, std::uint64_t column) {
      double* const column_sums =
          sums.as<double>().data() + static_cast<std::size_t>(worker) * tiles::kColumnWidth;
      tiles::sweep_column<tiles::WeightedSum<>>(tiles, column, x.data(), column_sums);
      std::copy_n(column_sums, tiles.column_width(column),
                  results.as<float>().data() + tiles.column_begin(column));
    });
    least = std::min(least, seconds_since(start));
  }
  const auto edges = static_cast<double>(tiles.edges());
  const auto workers = static_cast<double>(pool.workers());
  state.counters["least_ms"] = least * 1e3;
  state.counters["edges/s"] = edges / least;
  state.counters["bytes/edge"] = static_cast<double>(tiles.bytes()) / edges;
  state.counters["of_stream"] = static_cast<double>(tiles.bytes()) / least / stream_bytes_per_s;
  state.counters["of_l2_gathers"] = edges / least / workers / l2_gathers_per_s;
}

BENCHMARK(limit_stream)->Iterations(1);
BENCHMARK(limit_gather)->Arg(16 << 10)->Arg(256 << 10)->Iterations(1);

void build_options(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(2);
}
void sweep_options(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(20);
}

BENCHMARK_CAPTURE(build, kronecker_degree, "kronecker/degree")->Apply(build_options);
BENCHMARK_CAPTURE(sweep, kronecker_degree, "kronecker/degree")->Apply(sweep_options);
BENCHMARK_CAPTURE(build, kronecker_given, "kronecker/given")->Apply(build_options);
BENCHMARK_CAPTURE(sweep, kronecker_given, "kronecker/given")->Apply(sweep_options);
BENCHMARK_CAPTURE(build, uniform_given, "uniform/given")->Apply(build_options);
BENCHMARK_CAPTURE(sweep, uniform_given, "uniform/given")->Apply(sweep_options);
BENCHMARK_CAPTURE(build, grid_given, "grid/given")->Apply(build_options);
BENCHMARK_CAPTURE(sweep, grid_given, "grid/given")->Apply(sweep_options);
BENCHMARK_CAPTURE(build, web_given, "web/given")->Apply(build_options);
BENCHMARK_CAPTURE(sweep, web_given, "web/given")->Apply(sweep_options);
BENCHMARK_CAPTURE(build, web_degree, "web/degree")->Apply(build_options);
BENCHMARK_CAPTURE(sweep, web_degree, "web/degree")->Apply(sweep_options);

}  // namespace

BENCHMARK_MAIN();
