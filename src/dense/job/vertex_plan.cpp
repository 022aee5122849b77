// The plan of processes that own vertices.

#include "base/seconds.h"
#include "dense/job/dense_plan.h"
#include "dense/plan/count.h"
#include "dense/tiles/build_tiles.h"
#include "launch/packing.h"
#include "options/kernels.h"
#include "partition/row_loader.h"

namespace edgewire::job {

namespace {

/// Agrees with all processes on the edges that either of two of them could compute. Returns the number that
/// this one hands over to each.
std::vector<std::uint64_t> balance(launch::Bootstrap& bootstrap, const plan::PairCovers& covers,
                                   std::uint64_t all_edges) {
  const auto processes = static_cast<std::size_t>(bootstrap.size());
  std::vector<std::uint64_t> mine(2 * processes);  // numbers of moved and free edges by peer
  for (std::size_t p = 0; p < processes; ++p) {
    mine[p] = covers[p].moved_edges;
    mine[processes + p] = covers[p].free_edges;
  }
  mine.push_back(all_edges);
  plan::Traffic edges(bootstrap.size()), moved(bootstrap.size()), free(bootstrap.size());
  const auto rows = launch::allgather(bootstrap, mine);
  for (std::size_t from = 0; from < processes; ++from) {
    const auto& row = rows[from];
    edges.at(from, from) = row.back();
    for (std::size_t to = 0; to < processes; ++to) {
      moved.at(from, to) = row[to];
      free.at(from, to) = row[processes + to];
      if (from != to) {
        edges.at(from, to) = row[to];
        edges.at(from, from) -= row[to];
      }
    }
  }
  const auto balanced = plan::balance(edges, moved, free);
  const auto me = static_cast<std::size_t>(bootstrap.rank());
  std::vector<std::uint64_t> more;
  for (std::size_t to = 0; to < processes; ++to) more.push_back(balanced.at(me, to) - moved.at(me, to));
  return more;
}

/// Drafts a plan with the strategy that is set in `choices`. Where the wire would be the limit, `cover` takes
/// the place of `slots`.
plan::ExchangePlan draft_plan(const PlanTask& task, const partition::OwnedRows& rows,
                              const partition::Ownership& ownership, plan::OwnedVertices owned, Rates& rates,
                              Choices& choices, const ForEach& for_each) {
  const DenseOptions& options = task.options;
  const auto with = [&](plan::Strategy strategy, plan::OwnedVertices vertices) {
    choices.strategy = strategy;
    return plan::ExchangePlan(rows, ownership, task.bootstrap.rank(), std::move(vertices), strategy,
                              task.workers(), for_each, options.weighted,
                              [&](const plan::PairCovers& covers, std::uint64_t edges) {
                                return balance(task.bootstrap, covers, edges);
                              });
  };
  auto draft = with(options.choose_strategy ? plan::Strategy::slots : options.strategy, std::move(owned));
  if (!options.choose_strategy || task.bootstrap.size() == 1 || !options.devices.empty()) return draft;
  std::uint64_t values = 0;
  for (const auto& stream : draft.streams()) values += stream.slots;
  if (rates.wire_limits(values, draft.owned().edges(), choices))
    return with(plan::Strategy::cover, std::move(draft).take_owned());
  return draft;
}

/// Builds the tiles of the edges that each peer moved here, by peer.
std::vector<tiles::Tiles> build_mirrored(const PlanTask& task, exchange::Exchange& exchange,
                                         const plan::ExchangePlan& plan, const Columns& columns) {
  std::vector<tiles::Tiles> mirrored(task.processes());
  topology::PageVector<std::uint32_t> addresses;
  for (const auto& stream : exchange.incoming()) {
    if (stream.sources.empty()) continue;
    if (addresses.empty()) addresses = plan.owned_addresses();
    const plan::MovedRows rows(exchange.take_moved(stream.peer), stream.peer,
                               static_cast<std::uint32_t>(stream.sources.size()), plan.sources(),
                               plan.weight_bytes(), addresses);
    mirrored[stream.peer] =
        tiles::build_tiles(task.process.pool(), rows, std::span(columns.bounds).first(columns.local() + 1),
                           std::span(columns.memory_nodes).first(columns.local()), task.tile_sizes());
  }
  return mirrored;
}

}  // namespace

plan::OwnedVertices order_vertices(const PlanTask& task, const partition::OwnedRows& rows,
                                   const partition::Ownership& ownership, Choices& choices,
                                   const ForEach& for_each) {
  choices.layout = task.options.layout;
  const bool anyhow = task.options.devices.empty() || memory_holds_rows(task);
  if (task.options.choose_layout && !anyhow) {
    choices.layout = plan::Layout::given;
    choices.layout_reason = fmt::format(
        "given: {} did not hold the graph when its edges were written, so rows were read in order",
        opt::memory);
  } else if (choices.layout == plan::Layout::degree && !anyhow) {
    choices.layout_reason = fmt::format(
        "degree: {} does not hold the graph, whose rows are then read from all over the file; {} reads them "
        "in order",
        opt::memory, opt::layout("given"));
  }
  if (!task.options.choose_layout || !anyhow)
    return {rows, ownership, task.bootstrap.rank(), choices.layout, for_each};
  return choose_layout(task, rows, ownership, choices, for_each);
}

ConnectedPlan plan_vertices(const PlanTask& task, Rates& rates, Choices choices) {
  auto start = Clock::now();
  auto ownership = partition::make_ownership(task.bootstrap, task.graph, choices.ownership);
  auto rows =
      partition::load_rows(task.bootstrap, task.process, task.graph, ownership,
                           {.weights = task.options.weighted,
                            .reading = task.options.devices.empty() ? task.options.rows : RowReading::own});
  auto owned = order_vertices(task, rows, ownership, choices, task.on_workers("load"));
  const double seconds_load = seconds_since(start);

  start = Clock::now();
  const ForEach for_each = task.on_workers("plan");
  auto plan = draft_plan(task, rows, ownership, std::move(owned), rates, choices, for_each);
  auto exchange = exchange::Exchange::agree(task.bootstrap, task.process.link(), plan, task.options.encoding,
                                            task.workers(), for_each);
  const std::uint64_t matching = plan.matching();
  const auto sizes = task.tile_sizes();
  std::vector<std::uint64_t> edges_of;
  auto bounds = plan.cut_columns(sizes.column_width, task.column_edges(plan.edges()), for_each, &edges_of);
  auto columns = spread_columns(task, std::move(bounds), plan.sources(), edges_of);
  plan.to_addresses(columns.bounds, for_each);
  EdgeTiles tiles;
  if (task.options.devices.empty())
    tiles.own = tiles::build_tiles(task.process.pool(), plan, columns.bounds, columns.memory_nodes, sizes);
  else
    tiles = build_on_disks(task, plan, columns);
  tiles.mirrored = build_mirrored(task, exchange, plan, columns);
  owned = std::move(plan).take_owned(columns.bounds, for_each);
  release_rows(task, rows, ownership, for_each);
  return {std::move(choices), matching,         std::move(ownership), std::move(owned), std::move(rows),
          std::move(columns), std::move(tiles), std::move(exchange),  seconds_load,     seconds_since(start)};
}

}  // namespace edgewire::job
