#include "dense/job/order_choice.h"
#include "dense/tiles/build_tiles.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "base/control_group.h"
#include "base/seconds.h"
#include "dense/job/dense_plan.h"
#include "edgewire/detail/page_vector.h"
#include "edgewire/detail/sweep.h"
#include "launch/packing.h"

namespace edgewire::job {

namespace {

/// The least number of groups that a worker gets, so that all finish at about the same time.
constexpr std::size_t kGroupsPerWorker = 4;
/// The least part of the edges that thin cells must have for bins to be a candidate, as its inverse.
constexpr std::uint64_t kLeastThin = 32;
/// The part of the time that another order than strips may take, since a sample is not exact.
constexpr double kWorthIt = 0.92;

/// Cuts `columns` into groups of at most `together`.
void cut(std::span<const std::uint32_t> columns, std::size_t together,
         std::vector<std::vector<std::uint32_t>>& groups) {
  for (std::size_t c = 0; c < columns.size(); c += together) {
    const auto part = columns.subspan(c, std::min(together, columns.size() - c));
    groups.emplace_back(part.begin(), part.end());
  }
}

/// The orders that may be chosen.
struct Candidates {
  tiles::TileOrder strips, hilbert;
  std::optional<tiles::TileOrder> bins;
};

constexpr int kSweeps = 2;

/// Returns the least time of all sweeps.
template <class Work>
void time(double& least, int sweep, const Work& work) {
  const auto start = Clock::now();
  work();
  const double seconds = seconds_since(start);
  least = sweep == 0 ? seconds : std::min(least, seconds);
}

/// A sampled group that stands for those around it, too.
struct Sampled {
  std::size_t group = 0;
  double weight = 0;  ///< edges of all groups that it stands for / its own
  OrderSeconds least{};
};

/// Returns one group for each stretch of them: columns in the order of their numbers have fewer and fewer
/// edges.
std::vector<Sampled> sample(const tiles::Tiles& tiles, const tiles::TileOrder& order, int workers) {
  constexpr std::size_t kLeastSampled = 8, kMostSkipped = 12;
  const std::size_t step = std::clamp<std::size_t>(
      order.groups() / (kLeastSampled * static_cast<std::size_t>(workers)), 1, kMostSkipped);
  std::vector<Sampled> sampled;
  for (std::size_t first = 0; first < order.groups(); first += step) {
    const std::size_t end = std::min(order.groups(), first + step);
    const auto edges = [&](std::size_t from, std::size_t to) {
      double sum = 0;
      for (std::size_t group = from; group < to; ++group)
        for (const std::uint32_t column : order.columns(group))
          sum += static_cast<double>(tiles.edges(column));
      return sum;
    };
    const std::size_t middle = (first + end) / 2;
    sampled.push_back({middle, edges(first, end) / std::max(edges(middle, middle + 1), 1.0)});
  }
  return sampled;
}

/// Returns the seconds that workers take for all tiles in each order, by a sample. Taking it costs less than
/// one iteration of a large graph.
OrderSeconds sampled_seconds(const DensePlan& plan, const Candidates& candidates,
                             topology::WorkerPool& pool) {
  using Sum = tiles::WeightedSum<>;
  const tiles::Tiles& tiles = plan.tiles.own;
  const tiles::TileOrder &strips = candidates.strips, &hilbert = candidates.hilbert;
  const auto& bins = candidates.bins;
  auto sampled = sample(tiles, hilbert, pool.workers());
  std::vector<double> scatter(bins ? bins->bins().strips() : 0);
  const topology::PageVector<float> x(plan.owned.count(), 1.0F);
  topology::PageVector<float> values(bins ? bins->bins().edges() : 0, 0.0F);
  std::vector<topology::PageVector<double>> sums(static_cast<std::size_t>(pool.workers()));
  for (auto& one : sums) one.assign(hilbert.most(), 0.0);

  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    pool.for_each(scatter.size(), [&](int, std::uint64_t strip) {
      time(scatter[strip], sweep, [&] { bins->bins().scatter(strip, x.data(), values.data()); });
    });
    // All groups in one order before the next, so that none finds its tiles in the caches.
    for (std::size_t order = 0; order < (bins ? 3U : 2U); ++order) {
      pool.for_each(sampled.size(), [&](int worker, std::uint64_t i) {
        const std::size_t group = sampled[i].group;
        double* const own = sums[worker].data();
        const auto by_column = [&](const tiles::TileOrder& of) {
          for (const std::uint32_t column : hilbert.columns(group))
            tiles::sweep_group<Sum>(tiles, of, column, x.data(), own, worker, values.data());
        };
        time(sampled[i].least[order], sweep, [&] {
          if (order == 0) by_column(strips);
          if (order == 1) tiles::sweep_group<Sum>(tiles, hilbert, group, x.data(), own);
          if (order == 2) by_column(*bins);
        });
      });
    }
  }
  OrderSeconds sum{};
  for (const Sampled& one : sampled)
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += one.weight * one.least[k];
  sum[2] = bins ? sum[2] + std::accumulate(scatter.begin(), scatter.end(), 0.0) : sum[0];
  return sum;
}

/// Groups of columns for the Hilbert order: local columns of one node, then remote ones that a lane sends one
/// after the other. Groups have the same number of columns, as far as that goes.
std::vector<std::vector<std::uint32_t>> group_columns(const PlanTask& task, const DensePlan& plan) {
  const auto& nodes = plan.columns.nodes;
  const auto& exchange = plan.exchange;
  const std::size_t columns = plan.tiles.own.columns();
  const auto lanes = static_cast<std::size_t>(exchange.lanes());
  const std::uint64_t workers = lanes * static_cast<std::uint64_t>(task.bootstrap.local_size());
  const std::size_t together = std::clamp<std::size_t>(
      columns / (kGroupsPerWorker * lanes), 1,
      columns_together(task.machine, workers, std::uint64_t{plan.owned.count()} * sizeof(float),
                       tiles::TileOrder(plan.columns.bounds).most() * sizeof(double)));
  std::vector<std::vector<std::uint32_t>> groups;
  const int last = nodes.empty() ? -1 : std::ranges::max(nodes);
  for (int node = 0; node <= last; ++node) {
    std::vector<std::uint32_t> local;
    for (std::uint32_t c = 0; c < nodes.size(); ++c)
      if (nodes[c] == node) local.push_back(c);
    cut(local, together, groups);
  }
  for (int lane = 0; lane < exchange.lanes(); ++lane) {
    std::vector<std::uint32_t> run;
    for (const auto& chunk : exchange.lane_chunks(lane)) {
      const auto& stream = exchange.outgoing()[chunk.stream];
      if (stream.mirrors || !stream.indexes.empty()) {  // messages, not the sums of a column
        cut(run, together, groups);
        run.clear();
      } else {
        run.push_back(static_cast<std::uint32_t>(chunk.column));
      }
    }
    cut(run, together, groups);
  }
  return groups;
}

}  // namespace

std::size_t columns_together(const topology::Machine& machine, std::uint64_t workers,
                             std::uint64_t source_bytes, std::uint64_t column_bytes) noexcept {
  constexpr std::uint64_t kLeast = 2, kMost = 8;
  const std::uint64_t cache = source_bytes <= machine.l3_bytes
                                  ? machine.l2_bytes
                                  : std::max(machine.l2_bytes, machine.l3_bytes / workers);
  return std::clamp(cache / 2 / std::max<std::uint64_t>(column_bytes, 1), kLeast, kMost);
}

bool bins_fit(std::uint64_t thin_edges, std::uint64_t available_bytes) noexcept {
  constexpr std::uint64_t kBytesAnEdge = 2 * sizeof(std::uint16_t) + sizeof(double) + sizeof(float);
  return thin_edges <= available_bytes / (2 * kBytesAnEdge);
}

tiles::Order fastest_order(const OrderSeconds& seconds) noexcept {
  const auto fastest = static_cast<std::size_t>(std::ranges::min_element(seconds) - seconds.begin());
  return seconds[fastest] < kWorthIt * seconds[0] ? static_cast<tiles::Order>(fastest) : tiles::Order::strips;
}

std::string order_reason(tiles::Order chosen, const OrderSeconds& seconds) {
  if (seconds[0] == 0) return "strips: all sources fit into the second cache";
  const std::string bins = std::isinf(seconds[2])
                               ? "there is too little memory for bins"
                               : fmt::format("{:.4g} ms with bins for thin tiles", 1e3 * seconds[2]);
  return fmt::format(
      "{}: by a sample, all tiles take {:.4g} ms strip by strip, {:.4g} ms along the Hilbert curve, {}",
      to_name(chosen), 1e3 * seconds[0], 1e3 * seconds[1], bins);
}

void order_tiles(const PlanTask& task, DensePlan& plan) {
  using tiles::Order;
  const OrderOptions options = plan.tiles.disks ? OrderOptions{} : task.options.order;
  Order& order = plan.choices.order;
  std::string& reason = plan.choices.order_reason;
  const bool from_cache = options.choose && !reason.empty(), choose = options.choose && !from_cache;
  if (!options.choose) {
    order = options.order;
    reason.clear();
  }
  const tiles::Tiles& own = plan.tiles.own;
  const std::uint32_t sources = plan.owned.count();
  auto& pool = task.process.pool();
  Candidates candidates{tiles::TileOrder(plan.columns.bounds), {}, {}};
  if (choose || order == Order::hilbert)
    candidates.hilbert = tiles::TileOrder(own, group_columns(task, plan));
  const auto make_bins = [&] {
    candidates.bins.emplace(own, plan.columns.bounds, tiles::make_bins(pool, own, sources));
  };
  const auto fit = [&](std::uint64_t thin) {
    return bins_fit(thin, available_memory() / static_cast<std::uint64_t>(task.bootstrap.local_size()));
  };
  if (choose) {
    OrderSeconds mine{};
    if (std::uint64_t{sources} * sizeof(float) > task.machine.l2_bytes) {
      const std::uint64_t thin = task.options.weighted ? 0 : tiles::count_thin_edges(pool, own, sources);
      const bool bins_have_room = fit(thin);
      if (thin > 0 && thin >= own.edges() / kLeastThin && bins_have_room) make_bins();
      mine = sampled_seconds(plan, candidates, pool);
      if (!bins_have_room) mine[2] = std::numeric_limits<double>::infinity();  // then no process takes them
    }
    OrderSeconds seconds{};
    for (const auto& one : launch::allgather(task.bootstrap, std::vector{mine}))
      for (std::size_t k = 0; k < seconds.size(); ++k) seconds[k] += one[0][k];
    order = fastest_order(seconds);
    reason = order_reason(order, seconds);
  } else if (from_cache && order == Order::bins) {
    const auto all = task.bootstrap.allgather(fit(tiles::count_thin_edges(pool, own, sources)) ? "fit" : "");
    if (std::ranges::find(all, "") != all.end()) {
      order = Order::strips;
      reason = "strips: an earlier run chose bins, and there is too little memory for them now";
    }
  }
  if (order == Order::bins && !candidates.bins) make_bins();
  plan.tile_order = std::move(order == Order::strips    ? candidates.strips
                              : order == Order::hilbert ? candidates.hilbert
                                                        : *candidates.bins);
}

}  // namespace edgewire::job
