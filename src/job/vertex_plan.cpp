// The plan of processes that own vertices.
#include <fmt/core.h>

#include <algorithm>

#include "job/compute_rate.h"
#include "job/dense_plan.h"
#include "job/layout_choice.h"
#include "job/ownership_choice.h"
#include "launch/packing.h"
#include "plan/balance.h"
#include "seconds.h"
#include "tiles/plan_readers.h"

namespace edgewire::job {

namespace {

/// What choices go by: as the options say, or measured when first asked for. Collective.
class Rates {
 public:
  explicit Rates(const PlanTask& task)
      : task_(task), link_(task.options.assumed_link_rate), compute_(task.options.assumed_compute_rate) {}
  /// Bytes per second of a process.
  double link() {
    if (link_ == 0) link_ = task_.seat.measure_link(task_.bootstrap);
    return link_;
  }
  /// Edges per second and worker.
  double compute() {
    if (compute_ == 0)
      compute_ =
          launch::allreduce(task_.bootstrap, measure_compute_rate(task_.seat.pool()), std::ranges::min);
    return compute_;
  }
  /// Edges per second of a process.
  double compute_all() { return compute() * task_.workers(); }

 private:
  const PlanTask& task_;
  double link_, compute_;
};

/// A name that plan::Ownership::create knows, and the table of the choice.
OwnershipChoice ownership_of(const PlanTask& task, Rates& rates) {
  const std::string& wanted = task.options.ownership;
  if (wanted != "auto" && !wanted.starts_with("auto,")) return {wanted, {}};
  if (task.bootstrap.size() == 1) return {"hash", {}};
  std::vector<std::string> candidates{"hash", "ranges"};
  if (wanted != "auto") candidates.push_back(wanted.substr(5));
  const double link = rates.link();
  return choose_ownership(task.bootstrap, task.seat.pool(), task.graph, candidates,
                          {link, rates.compute_all(), plan::value_bytes(task.options.encoding)});
}

/// All processes agree which edges either of two of them computes. Returns what this one hands over to each.
std::vector<std::uint64_t> balance(launch::Bootstrap& bootstrap, const plan::PairCovers& covers,
                                   std::uint64_t all_edges) {
  const auto processes = static_cast<std::size_t>(bootstrap.size());
  std::vector<std::uint64_t> mine(2 * processes);  // of moved and free edges, and all that are in neither
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

/// With the strategy that is set in `choices`: where the wire would be the limit, `cover` takes the place of
/// `slots`.
plan::PlanDraft draft_plan(const PlanTask& task, const plan::Ownership& ownership, plan::OwnedVertices owned,
                           Rates& rates, Choices& choices, const plan::ForEach& for_each) {
  const DenseOptions& options = task.options;
  const auto with = [&](plan::Strategy strategy, plan::OwnedVertices vertices) {
    choices.strategy = strategy;
    return plan::PlanDraft(task.graph, ownership, task.bootstrap.rank(), std::move(vertices), strategy,
                           task.workers(), for_each, options.weighted,
                           [&](const plan::PairCovers& covers, std::uint64_t edges) {
                             return balance(task.bootstrap, covers, edges);
                           });
  };
  auto draft = with(options.choose_strategy ? plan::Strategy::slots : options.strategy, std::move(owned));
  if (!options.choose_strategy || task.bootstrap.size() == 1 || !options.devices.empty()) return draft;
  double values = 0;
  for (const auto& stream : draft.streams()) values += stream.slots;
  const double link = rates.link();
  const std::vector<double> mine{values * static_cast<double>(plan::value_bytes(options.encoding)) / link,
                                 static_cast<double>(draft.owned().edges()) / rates.compute_all()};
  // Seconds sending and computing, of the most loaded process.
  const auto most = launch::allreduce(task.bootstrap, mine, std::ranges::max);
  const bool wire_limits = most[0] > most[1];
  choices.strategy_reason = fmt::format(
      "{}: sending all sums would take {:.4f} s at the link's {:.2f} Gbit/s ({}), computing {:.4f} s at "
      "{:.2g} "
      "edges/s a worker ({})",
      plan::to_name(wire_limits ? plan::Strategy::cover : plan::Strategy::slots), most[0], link * 8e-9,
      options.assumed_link_rate > 0 ? "assumed" : "measured", most[1], rates.compute(),
      options.assumed_compute_rate > 0 ? "assumed" : "measured");
  if (wire_limits) return with(plan::Strategy::cover, std::move(draft).take_owned());
  return draft;
}

/// [peer]: of the edges that it moved here.
std::vector<tiles::Tiles> build_mirrored(const PlanTask& task, exchange::Exchange& exchange,
                                         const plan::ExchangeColumns& edges, const Columns& columns) {
  std::vector<tiles::Tiles> mirrored(task.processes());
  topology::PageVector<std::uint32_t> addresses;
  for (const auto& stream : exchange.incoming()) {
    if (stream.sources.empty()) continue;
    if (addresses.empty()) addresses = edges.owned_addresses();
    const plan::MovedRows rows(exchange.take_moved(stream.peer), stream.peer,
                               static_cast<std::uint32_t>(stream.sources.size()), edges.sources(),
                               edges.weight_bytes());
    mirrored[static_cast<std::size_t>(stream.peer)] =
        tiles::build_tiles(task.seat.pool(), tiles::MovedReader(rows, addresses),
                           std::span(columns.bounds).first(columns.local() + 1),
                           std::span(columns.memory_nodes).first(columns.local()), task.tile_sizes());
  }
  return mirrored;
}

}  // namespace

plan::OwnedVertices order_vertices(const PlanTask& task, const plan::Ownership& ownership, Choices& choices,
                                   const plan::ForEach& for_each) {
  choices.layout = task.options.layout;
  if (!task.options.choose_layout)
    return {task.graph, ownership, task.bootstrap.rank(), choices.layout, for_each};
  auto choice =
      choose_layout(task.bootstrap, task.graph, ownership, task.seat.pool(), task.tile_sizes(), for_each);
  choices.layout = choice.layout;
  choices.layout_reason = std::move(choice.reason);
  return std::move(choice.owned);
}

ConnectedPlan plan_vertices(const PlanTask& task) {
  Rates rates(task);
  auto named = ownership_of(task, rates);
  Choices choices{.ownership = std::move(named.ownership), .ownership_table = std::move(named.table)};
  auto ownership = plan::Ownership::create(choices.ownership, task.graph.offsets(), task.bootstrap.size());
  auto start = Clock::now();
  auto owned = order_vertices(task, ownership, choices, task.on_workers("load"));
  const double seconds_load = seconds_since(start);

  start = Clock::now();
  const plan::ForEach for_each = task.on_workers("plan");
  auto [exchange, plan] =
      exchange::Exchange::agree(task.bootstrap, task.seat.link(),
                                draft_plan(task, ownership, std::move(owned), rates, choices, for_each),
                                task.options.encoding, task.workers(), for_each);
  const std::uint64_t matching = plan.matching();
  const auto sizes = task.tile_sizes();
  std::vector<std::uint64_t> edges_of;
  auto bounds = plan.cut_columns(sizes.column_width, task.column_edges(plan.edges()), for_each, &edges_of);
  auto columns =
      spread_columns(std::move(bounds), plan.sources(), edges_of, task.seat.pool().placement(), task.machine);
  plan::ExchangeColumns edges(std::move(plan), columns.bounds, for_each);
  EdgeTiles tiles;
  if (task.options.devices.empty())
    tiles.own = tiles::build_tiles(task.seat.pool(), tiles::PlanReader(edges), columns.bounds,
                                   columns.memory_nodes, sizes);
  else
    tiles = build_on_disks(task, edges, columns);
  tiles.mirrored = build_mirrored(task, exchange, edges, columns);
  owned = std::move(edges).take_owned(for_each);
  for_each_rows(task, for_each,
                [&](std::uint64_t first, std::uint64_t last) { task.graph.release_rows(first, last); });
  return {std::move(choices),  matching,           std::move(ownership),
          std::move(owned),    std::move(columns), std::move(tiles),
          std::move(exchange), seconds_load,       seconds_since(start)};
}

}  // namespace edgewire::job
