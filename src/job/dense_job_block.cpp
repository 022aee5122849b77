// Jobs whose processes hold blocks of edges: ownership `hilbert` or `grid`.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "job/dense_job.h"
#include "plan/block_plan.h"
#include "seconds.h"
#include "tiles/plan_readers.h"

namespace edgewire::job {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLists = 2;  // streams to each peer: partial sums, then mirrors

struct Streams {
  std::vector<exchange::IncomingStream> incoming;
  std::vector<exchange::OutgoingStream> outgoing;
};

Streams streams_of(const plan::BlockPlan& plan) {
  Streams streams;
  for (const auto& peer : plan.peers()) {
    streams.incoming.emplace_back().targets = peer.sums_from;
    streams.incoming.emplace_back().targets = peer.mirrors_from;
    auto& sums = streams.outgoing.emplace_back();
    sums.slots = peer.sums_to;
    sums.first_destination = peer.first_sum;
    auto& mirrors = streams.outgoing.emplace_back();
    mirrors.mirrors = true;
    mirrors.slots = static_cast<std::uint32_t>(peer.mirrors_to.size());
    mirrors.indexes = peer.mirrors_to;
  }
  static_assert(kLists == 2);
  return streams;
}

}  // namespace

void DenseJob::build_block(const DenseOptions& options, const topology::Machine& machine) {
  std::string_view step = "load";
  const plan::ForEach for_each = on_workers(options, step);
  auto start = Clock::now();
  const auto sizes = tile_sizes(options, machine);
  const plan::Rows rows{graph_.offsets(), graph_.targets()};
  for_each_rows(for_each,
                [this](std::uint64_t first, std::uint64_t last) { graph_.verify_rows(first, last); });
  // As much memory as the plan takes later; with more than 16 processes that is several passes.
  plan::CountOptions count;
  count.threads = options.seat.workers;
  count.memory_bytes = std::max<std::uint64_t>(4 * rows.vertices(), 64 << 20);
  std::optional<plan::EdgePartition> partition;
  std::optional<plan::BlockShare> share;
  seat_.pool().run_unpinned([&] {
    partition = plan::partition_edges(options.ownership, rows, bootstrap_.size(), options.seat.workers);
    share = plan::share_of_block(rows, *partition, bootstrap_.rank(), count);
  });
  ownership_name_ = options.ownership;
  ownership_ = std::move(share->ownership);
  order_vertices(options, sizes, for_each);
  seconds_load = seconds_since(start);

  start = Clock::now();
  step = "plan";
  strategy_ = plan::Strategy::slots;
  if (options.choose_strategy)
    strategy_reason_ = "slots: processes own edges, and send mirrors and partial sums without ids";
  plan::BlockPlan plan(graph_, std::move(*partition), std::move(share->peers), *ownership_, bootstrap_.rank(),
                       *owned_, layout_, options.seat.workers, for_each, options.weighted);
  auto streams = streams_of(plan);
  exchange_ = std::make_unique<exchange::Exchange>(bootstrap_, seat_.link(), std::move(streams.incoming),
                                                   std::move(streams.outgoing), strategy_, options.encoding,
                                                   options.seat.workers, exchange::MirrorUse::sources);
  std::vector<std::uint64_t> edges;
  column_bounds_ =
      plan.cut_columns(sizes.column_width, column_edges(plan.edges(), options.seat.workers), &edges);
  mirror_sources_ = plan.mirrors();
  spread_columns(machine, edges);
  const plan::BlockColumns columns(std::move(plan), column_bounds_, for_each);
  tiles_ =
      tiles::build_tiles(seat_.pool(), tiles::BlockReader(columns), column_bounds_, memory_nodes_, sizes);
  mirror_tiles_.resize(static_cast<std::size_t>(bootstrap_.size()));
  deal_columns();
  count_traffic();
  for_each_rows(for_each,
                [this](std::uint64_t first, std::uint64_t last) { graph_.release_rows(first, last); });
  seconds_plan = seconds_since(start);
}

}  // namespace edgewire::job
