// The orders in which tiles are swept (edgewire/detail/tile_order.h) in random turns: strip by strip, along
// the Hilbert curve, and with bins for thin cells, on a graph in degree order. Before it is timed, each order
// must give exactly the sums of a plain loop over the edges.
//
// EDGEWIRE_BENCH_SHAPE        the shape of the graph, of those in graphs.h (default kronecker)
// EDGEWIRE_BENCH_SCALE        its scale (default 22)
// EDGEWIRE_BENCH_GRAPH        an .ew file instead
// EDGEWIRE_BENCH_WORKERS      numbers of workers (default "1 2")
// EDGEWIRE_BENCH_GROUP        columns that the Hilbert order sweeps together at most (default 4)
// EDGEWIRE_BENCH_SWEEPS       sweeps in each order (default 9)
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <limits>
#include <random>
#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/median.h"
#include "base/rooms.h"
#include "base/seconds.h"
#include "dense/tiles/build_tiles.h"
#include "edgewire/detail/bins.h"
#include "edgewire/detail/page_vector.h"
#include "edgewire/detail/sweep.h"
#include "edgewire/detail/tile_order.h"
#include "perf/bench/graphs.h"
#include "topology/worker_pool.h"

namespace {

using namespace edgewire;

/// The numbers from 1 to `most` that an environment variable lists.
std::vector<int> setting(const char* name, const char* otherwise, int most = 1024) {
  const char* const text = std::getenv(name);
  std::istringstream in(text != nullptr ? text : otherwise);
  std::vector<int> values;
  for (int value; in >> value;) values.push_back(value);
  if (values.empty() || !in.eof() || std::ranges::min(values) < 1 || std::ranges::max(values) > most)
    throw Error(fmt::format("{} takes numbers from 1 to {}: {}", name, most, in.str()));
  return values;
}

perf::PlainGraph make_graph() {
  const char* const file = std::getenv("EDGEWIRE_BENCH_GRAPH");
  const char* const shape = std::getenv("EDGEWIRE_BENCH_SHAPE");
  perf::PlainGraph graph =
      perf::order_by_degree(file != nullptr ? perf::read_graph(file)
                                            : perf::make_graph(shape != nullptr ? shape : "kronecker",
                                                               setting("EDGEWIRE_BENCH_SCALE", "22", 31)[0]));
  if (graph.targets.empty()) throw Error("the graph has no edges");
  return graph;
}

/// Source values are small integers: all sums are exact, whatever their order.
topology::PageVector<float> make_values(const perf::PlainGraph& graph) {
  topology::PageVector<float> x(graph.vertices());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) x[v] = static_cast<float>(v * 2654435761U >> 24) + 1;
  return x;
}

/// The sum of each destination, added up edge by edge.
std::vector<double> plain_sums(const perf::PlainGraph& graph, std::span<const float> x) {
  std::vector<double> sums(graph.vertices());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v)
    for (std::uint64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e)
      sums[graph.targets[e]] += static_cast<double>(x[v]);
  return sums;
}

/// Sweeps the tiles in one order.
class Sweeper {
 public:
  Sweeper(topology::WorkerPool& pool, const tiles::Tiles& tiles, tiles::TileOrder order)
      : pool_(pool), tiles_(tiles), order_(std::move(order)), values_(order_.bins().edges()) {
    for (int worker = 0; worker < pool.workers(); ++worker) sums_.emplace_back(order_.most());
  }
  const tiles::TileOrder& order() const { return order_; }

  /// Puts the sum of each destination into `results`.
  template <class Result>
  void sweep(const float* x, Result* results) {
    pool_.for_each(order_.bins().strips(),
                   [&](int, std::uint64_t strip) { order_.bins().scatter(strip, x, values_.data()); });
    pool_.for_each(order_.groups(), [&](int worker, std::uint64_t group) {
      double* const sums = sums_[static_cast<std::size_t>(worker)].data();
      tiles::sweep_group<tiles::WeightedSum<>>(tiles_, order_, group, x, sums, worker, values_.data());
      for (const std::uint32_t column : order_.columns(group))
        std::transform(sums + order_.begin(column), sums + order_.begin(column) + tiles_.column_width(column),
                       results + tiles_.column_begin(column), [](double sum) { return Result(sum); });
    });
  }

  std::uint64_t bytes() const { return order_.bytes(tiles_, sizeof(float)); }

  std::vector<double> seconds;  ///< of the sweeps that were timed

 private:
  topology::WorkerPool& pool_;
  const tiles::Tiles& tiles_;
  tiles::TileOrder order_;
  topology::PageVector<float> values_;  ///< in bins
  std::vector<topology::PageVector<double>> sums_;
};

/// Groups of fewer columns where workers would get less than four groups each, as in a job.
std::vector<std::vector<std::uint32_t>> group_columns(std::size_t columns, int workers) {
  const auto most = static_cast<std::size_t>(setting("EDGEWIRE_BENCH_GROUP", "4")[0]);
  const std::size_t together =
      std::clamp<std::size_t>(columns / (4 * static_cast<std::size_t>(workers)), 1, most);
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::uint32_t c = 0; c < columns; ++c) {
    if (c % together == 0) groups.emplace_back();
    groups.back().push_back(c);
  }
  return groups;
}

void check(Sweeper& sweeper, const float* x, std::span<const double> expected) {
  std::vector<double> sums(expected.size(), -1);
  sweeper.sweep(x, sums.data());
  if (!std::ranges::equal(sums, expected))
    throw Error(fmt::format("{}: the sums are not those of a plain loop over the edges",
                            to_name(sweeper.order().order())));
}

/// The orders take turns at random, because caches are as the one before leaves them.
void time_sweeps(std::span<Sweeper> sweepers, const topology::PageVector<float>& x) {
  topology::PageVector<float> results(x.size(), 0.0F);
  std::vector<Sweeper*> turns;
  for (Sweeper& sweeper : sweepers) turns.push_back(&sweeper);
  std::mt19937 random(1);
  for (int sweep = setting("EDGEWIRE_BENCH_SWEEPS", "9")[0]; sweep > 0; --sweep) {
    std::ranges::shuffle(turns, random);
    for (Sweeper* const sweeper : turns) {
      const auto start = Clock::now();
      sweeper->sweep(x.data(), results.data());
      sweeper->seconds.push_back(seconds_since(start));
    }
  }
}

void print(std::span<const Sweeper> sweepers, double edges) {
  fmt::print("{:<8} {:>8} {:>8} {:>8} {:>9} {:>7} {:>7}\n", "", "ms", "least", "ns/edge", "G edges/s",
             "B/edge", "/strips");
  for (const Sweeper& one : sweepers) {
    const double middle = median(one.seconds);
    fmt::print("{:<8} {:>8.4g} {:>8.4g} {:>8.3f} {:>9.3f} {:>7.2f} {:>7.3f}\n", to_name(one.order().order()),
               1e3 * middle, 1e3 * std::ranges::min(one.seconds), 1e9 * middle / edges, 1e-9 * edges / middle,
               static_cast<double>(one.bytes()) / edges, middle / median(sweepers[0].seconds));
  }
}

/// How edges and cells are spread over thicknesses: edges of a cell for each of its sources.
void print_cells(const perf::PlainGraph& graph, std::span<const std::uint32_t> bounds) {
  constexpr std::array kLimits{
      1.0 / 64, 1.0 / 16, tiles::kThinEdges, 1.0, 4.0, 16.0, std::numeric_limits<double>::max()};
  std::array<std::uint64_t, kLimits.size()> cells{}, edges{};
  const partition::ColumnAddresses address(bounds);
  for (std::uint64_t first = 0; first < graph.vertices(); first += tiles::kStripWidth) {
    const auto last = std::min<std::uint64_t>(first + tiles::kStripWidth, graph.vertices());
    std::vector<std::uint64_t> edges_to(bounds.size() - 1);  // [column]
    for (std::uint64_t e = graph.offsets[first]; e < graph.offsets[last]; ++e)
      ++edges_to[address(graph.targets[e]) >> partition::kOffsetBits];
    for (const std::uint64_t count : edges_to) {
      if (count == 0) continue;
      const double thickness = static_cast<double>(count) / static_cast<double>(last - first);
      const auto row =
          static_cast<std::size_t>(std::ranges::upper_bound(kLimits, thickness) - kLimits.begin());
      ++cells[row];
      edges[row] += count;
    }
  }
  fmt::print("edges a source of a cell   cells   share of edges\n");
  for (std::size_t row = 0; row < kLimits.size(); ++row)
    fmt::print("from {:<18.4g} {:>8} {:>16.3f}\n", row == 0 ? 0 : kLimits[row - 1], cells[row],
               static_cast<double>(edges[row]) / static_cast<double>(graph.targets.size()));
}

void compare(const perf::PlainGraph& graph, int workers) {
  topology::WorkerPool pool = perf::make_pool(workers);
  const auto bounds = perf::cut_columns(graph, workers);
  const tiles::Tiles tiles = tiles::build_tiles(pool, perf::GraphReader(graph, bounds), bounds);
  std::vector<Sweeper> sweepers;
  sweepers.emplace_back(pool, tiles, tiles::TileOrder(bounds));
  sweepers.emplace_back(pool, tiles, tiles::TileOrder(tiles, group_columns(tiles.columns(), workers)));
  sweepers.emplace_back(pool, tiles,
                        tiles::TileOrder(tiles, bounds, tiles::make_bins(pool, tiles, graph.vertices())));
  const auto x = make_values(graph);
  const auto expected = plain_sums(graph, x);
  for (Sweeper& sweeper : sweepers) check(sweeper, x.data(), expected);
  time_sweeps(sweepers, x);
  fmt::print("{} vertices, {} edges, {} worker(s), {} columns\n", graph.vertices(), graph.targets.size(),
             workers, tiles.columns());
  print_cells(graph, bounds);
  print(sweepers, static_cast<double>(graph.targets.size()));
}

}  // namespace

int main() {
  try {
    const perf::PlainGraph graph = make_graph();
    for (const int workers : setting("EDGEWIRE_BENCH_WORKERS", "1 2")) compare(graph, workers);
  } catch (const std::exception& error) {
    fmt::print(stderr, "order_bench: {}\n", error.what());
    return 1;
  }
}
