#include "job/order_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <vector>

#include "launch/packing.h"
#include "seconds.h"
#include "tiles/sweep.h"
#include "topology/page_vector.h"

namespace edgewire::job {

namespace {

/// Groups that a worker gets at least, so that all finish at about the same time.
constexpr std::size_t kGroupsPerWorker = 4;

/// Cuts `columns` into groups of at most `together`.
void cut(std::span<const std::uint32_t> columns, std::size_t together,
         std::vector<std::vector<std::uint32_t>>& groups) {
  for (std::size_t c = 0; c < columns.size(); c += together) {
    const auto part = columns.subspan(c, std::min(together, columns.size() - c));
    groups.emplace_back(part.begin(), part.end());
  }
}

/// Seconds that a worker takes for a sample of the groups, in either order. All sweeps together take less
/// time than one iteration of a large graph.
std::array<double, 2> sampled_seconds(const OrderSubject& subject, const tiles::TileOrder& strips,
                                      const tiles::TileOrder& hilbert, topology::WorkerPool& pool) {
  using Sum = tiles::PlainSum<>;
  constexpr int kSweeps = 3;  // the first one warms up
  constexpr std::size_t kMostSkipped = 12;
  const auto workers = static_cast<std::size_t>(pool.workers());
  const std::size_t step = std::clamp<std::size_t>(hilbert.groups() / (2 * workers), 1, kMostSkipped);
  const std::size_t sampled = (hilbert.groups() + step - 1) / step;
  const topology::PageVector<float> x(subject.sources, 1.0F);
  std::vector<topology::PageVector<double>> sums(workers);
  for (auto& one : sums) one.resize(hilbert.most());
  std::vector<std::array<double, 2>> best(sampled);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    pool.for_each(sampled, [&](int worker, std::uint64_t i) {
      double* const accumulators = sums[static_cast<std::size_t>(worker)].data();
      const std::size_t group = i * step;
      const auto start = Clock::now();
      for (const std::uint32_t column : hilbert.columns(group))
        tiles::sweep_group<Sum>(subject.tiles, strips, column, x.data(), accumulators);
      const auto middle = Clock::now();
      tiles::sweep_group<Sum>(subject.tiles, hilbert, group, x.data(), accumulators);
      const std::array seconds{std::chrono::duration<double>(middle - start).count(), seconds_since(middle)};
      for (std::size_t k = 0; k < 2; ++k)
        best[i][k] = sweep <= 1 ? seconds[k] : std::min(best[i][k], seconds[k]);
    });
  }
  std::array<double, 2> sum{};
  for (const auto& one : best)
    for (std::size_t k = 0; k < 2; ++k) sum[k] += one[k];
  return sum;
}

/// Groups of columns for the Hilbert order: local columns of one node, then remote ones that a lane sends one
/// after the other. Groups have the same number of columns, as far as that goes.
std::vector<std::vector<std::uint32_t>> group_columns(const OrderSubject& subject,
                                                      const exchange::Exchange& exchange) {
  const auto& nodes = subject.column_nodes;
  const std::size_t columns = subject.tiles.columns();
  const auto lanes = static_cast<std::size_t>(exchange.lanes());
  const std::size_t together = std::clamp<std::size_t>(
      columns / (kGroupsPerWorker * lanes), 1,
      columns_together(subject.caches, std::uint64_t{subject.sources} * sizeof(float),
                       tiles::TileOrder(subject.column_bounds).most() * sizeof(double)));
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

std::size_t columns_together(const OrderCaches& caches, std::uint64_t source_bytes,
                             std::uint64_t column_bytes) noexcept {
  constexpr std::uint64_t kLeast = 2, kMost = 8;
  const std::uint64_t room =
      source_bytes <= caches.l3_bytes ? caches.l2_bytes / 2 : std::max(caches.l2_bytes, caches.l3_share) / 2;
  return std::clamp(room / std::max<std::uint64_t>(column_bytes, 1), kLeast, kMost);
}

OrderChoice order_tiles(const OrderOptions& options, const OrderSubject& subject,
                        const exchange::Exchange& exchange, launch::Bootstrap& bootstrap,
                        topology::WorkerPool& pool) {
  OrderChoice choice{tiles::TileOrder(subject.column_bounds), options.order, options.reason};
  if (!options.choose && options.order == tiles::Order::strips) return choice;
  tiles::TileOrder hilbert(subject.tiles, group_columns(subject, exchange));
  if (options.choose) {
    std::array<double, 2> seconds{};
    for (const auto& one :
         launch::allgather(bootstrap, std::vector{sampled_seconds(subject, choice.tiles, hilbert, pool)}))
      for (std::size_t k = 0; k < 2; ++k) seconds[k] += one[0][k];
    const auto& [by_strips, by_curve] = seconds;
    choice.order = by_curve < 0.95 * by_strips ? tiles::Order::hilbert : tiles::Order::strips;
    choice.reason = fmt::format(
        "{}: by a sample, workers sweep {:.4g} ms strip by strip, {:.4g} ms along the Hilbert curve",
        to_name(choice.order), 1e3 * by_strips, 1e3 * by_curve);
  }
  if (choice.order == tiles::Order::hilbert) choice.tiles = std::move(hilbert);
  return choice;
}

}  // namespace edgewire::job
