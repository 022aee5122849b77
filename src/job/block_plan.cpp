// The plan of processes that hold blocks of edges: ownership `hilbert` or `grid`.
#include "plan/block_plan.h"

#include <algorithm>
#include <optional>

#include "job/dense_plan.h"
#include "seconds.h"
#include "tiles/plan_readers.h"

namespace edgewire::job {

ConnectedPlan plan_block(const PlanTask& task) {
  auto start = Clock::now();
  plan::ForEach for_each = task.on_workers("load");
  const DenseOptions& options = task.options;
  const int rank = task.bootstrap.rank(), workers = task.workers();
  const plan::Rows rows{task.graph.offsets(), task.graph.targets()};
  for_each_rows(task, for_each,
                [&](std::uint64_t first, std::uint64_t last) { task.graph.verify_rows(first, last); });
  // As much memory as the plan takes later; with more than 16 processes that is several passes.
  plan::CountOptions count;
  count.threads = workers;
  count.memory_bytes = std::max<std::uint64_t>(4 * rows.vertices(), 64 << 20);
  std::optional<plan::EdgePartition> partition;
  std::optional<plan::BlockShare> share;
  task.seat.pool().run_unpinned([&] {
    partition = plan::partition_edges(options.ownership, rows, task.bootstrap.size(), workers);
    share = plan::share_of_block(rows, *partition, rank, count);
  });
  Choices choices{.ownership = options.ownership, .ownership_table = {}};
  if (options.choose_strategy)
    choices.strategy_reason = "slots: processes own edges, and send mirrors and partial sums without ids";
  auto owned = order_vertices(task, share->ownership, choices, for_each);
  const double seconds_load = seconds_since(start);

  start = Clock::now();
  for_each = task.on_workers("plan");
  plan::BlockPlan plan(task.graph, std::move(*partition), std::move(share->peers), share->ownership, rank,
                       owned, choices.layout, workers, for_each, options.weighted);
  auto exchange =
      exchange::Exchange::of_block(task.bootstrap, task.seat.link(), plan, options.encoding, workers);
  const auto sizes = task.tile_sizes();
  std::vector<std::uint64_t> edges_of;
  auto bounds = plan.cut_columns(sizes.column_width, task.column_edges(plan.edges()), &edges_of);
  auto columns =
      spread_columns(std::move(bounds), owned.count(), edges_of, task.seat.pool().placement(), task.machine);
  const plan::BlockColumns edges(std::move(plan), columns.bounds, for_each);
  EdgeTiles tiles;
  tiles.mirrored.resize(task.processes());
  for (std::size_t owner = 0; owner < tiles.mirrored.size(); ++owner) {
    const bool own = owner == static_cast<std::size_t>(rank);
    const auto sources = edges.of(owner);
    if (!own && sources.sources() == 0) continue;
    (own ? tiles.own : tiles.mirrored[owner]) = tiles::build_tiles(
        task.seat.pool(), tiles::PlanReader(sources), columns.bounds, columns.memory_nodes, sizes);
  }
  for_each_rows(task, for_each,
                [&](std::uint64_t first, std::uint64_t last) { task.graph.release_rows(first, last); });
  return {std::move(choices),          0,
          std::move(share->ownership), std::move(owned),
          std::move(columns),          std::move(tiles),
          std::move(exchange),         seconds_load,
          seconds_since(start)};
}

}  // namespace edgewire::job
