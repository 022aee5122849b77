// The plan of processes that hold blocks of edges: ownership `hilbert` or `grid`.
#include "dense/plan/block_plan.h"
#include "dense/tiles/build_tiles.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/seconds.h"
#include "dense/job/dense_plan.h"
#include "launch/packing.h"

namespace edgewire::job {

namespace {

/// Returns the partition. Each process counts the edges of the vertices that it owns.
plan::EdgePartition partition_edges(const PlanTask& task, const std::string& how, const ForEach& for_each) {
  const auto offsets = task.graph.offsets();
  const int processes = task.bootstrap.size();
  if (how == "grid") return plan::EdgePartition::grid(offsets, processes);
  const plan::Cells cells(offsets, processes);
  const auto [first, last] = cells.sources_of(static_cast<std::uint32_t>(task.bootstrap.rank()));
  const auto counted =
      cells.count({offsets, task.graph.targets()}, first, last, task.workers(), for_each,
                  [&](std::uint64_t begin, std::uint64_t end) { task.graph.verify_rows(begin, end); });
  return plan::EdgePartition::hilbert(offsets, processes, cells,
                                      launch::allreduce_many(task.bootstrap, counted, std::plus()));
}

plan::BlockEdges read_block(const PlanTask& task, const plan::EdgePartition& partition,
                            const ForEach& for_each) {
  const auto me = static_cast<std::uint32_t>(task.bootstrap.rank());
  const auto ranges = partition.sources_of(me, me + 1);
  for_each_rows(task, {0, task.graph.vertices()}, for_each, [&](std::uint64_t first, std::uint64_t last) {
    for (const auto& [begin, end] : ranges)
      if (first < end && begin < last) task.graph.verify_rows(std::max(first, begin), std::min(last, end));
  });
  const plan::Rows rows{task.graph.offsets(), task.graph.targets()};
  auto blocks =
      plan::read_blocks(rows, task.options.weighted ? task.graph.weights() : graph::Weights(), partition, me,
                        me + 1, 16 * static_cast<std::uint64_t>(task.workers()), for_each);
  return std::move(blocks[0]);
}

/// Returns the words that each process has sent to this one. All goes through rank 0, which holds 16 KiB for
/// each process, or a MiB.
std::vector<plan::Words> exchange_words(launch::Bootstrap& bootstrap, std::span<const plan::Words> to) {
  // Bytes of all messages at a time.
  const std::size_t bytes = std::max<std::size_t>(to.size() << 14, 1 << 20);
  const std::size_t piece = bytes / sizeof(plan::Words::value_type) / (to.size() * to.size()) + 1;
  std::uint64_t longest = 0;
  for (const auto& words : to) longest = std::max(longest, std::uint64_t{words.size()});
  longest = launch::allreduce(bootstrap, longest, std::ranges::max);
  std::vector<plan::Words> received(to.size());
  for (std::uint64_t first = 0; first < longest; first += piece) {
    std::vector<std::string> messages;
    for (const auto& words : to) {
      const auto begin = std::min<std::size_t>(first, words.size()),
                 end = std::min(begin + piece, words.size());
      messages.push_back(launch::pack(plan::Words(words.begin() + static_cast<std::ptrdiff_t>(begin),
                                                  words.begin() + static_cast<std::ptrdiff_t>(end))));
    }
    const auto answers = bootstrap.alltoall(messages);
    for (std::size_t p = 0; p < answers.size(); ++p) {
      const auto words = launch::unpack<plan::Words::value_type>(answers[p], p);
      received[p].insert(received[p].end(), words.begin(), words.end());
    }
  }
  return received;
}

/// Returns the routes that all processes take, which need the fewest values together.
plan::RoutedBlock choose_route(const PlanTask& task, plan::Strategy strategy, const plan::BlockEdges& block,
                               const partition::Ownership& owners, const ForEach& for_each) {
  const auto routes = plan::routes_of(strategy);
  std::vector<plan::RoutedBlock> routed(routes.size());
  for_each(routes.size(), [&](int, std::uint64_t r) {
    routed[r] =
        plan::route_block(block, owners, static_cast<std::uint32_t>(task.bootstrap.rank()), routes[r]);
  });
  std::vector<std::uint64_t> values;
  for (const auto& one : routed) values.push_back(one.values);
  const auto all = launch::allreduce(task.bootstrap, values, std::plus());
  return std::move(routed[static_cast<std::size_t>(std::ranges::min_element(all) - all.begin())]);
}

/// Returns the edges that this process computes. It also sets the strategy.
plan::BlockEdges share_edges(const PlanTask& task, Rates& rates, Choices& choices, plan::BlockEdges block,
                             const partition::Ownership& owners, const ForEach& for_each) {
  const DenseOptions& options = task.options;
  choices.strategy = options.choose_strategy ? plan::Strategy::slots : options.strategy;
  auto routed = choose_route(task, choices.strategy, block, owners, for_each);
  if (options.choose_strategy && task.bootstrap.size() > 1 &&
      rates.wire_limits(routed.values, block.edges(), choices))
    routed = choose_route(task, choices.strategy, block, owners, for_each);
  if (choices.strategy == plan::Strategy::slots) return block;
  const auto me = static_cast<std::size_t>(task.bootstrap.rank());
  auto parts = plan::split(block, routed, task.processes());
  block = {};
  std::vector<plan::Words> words(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (p != me) words[p] = plan::pack(std::exchange(parts[p], {}));
  auto received = exchange_words(task.bootstrap, words);
  words.clear();
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (p != me)
      parts[p] = plan::unpack(std::exchange(received[p], {}), options.weighted, p, task.graph.vertices());
  return plan::unite(parts);
}

/// Returns the values that go to each peer, and come from it.
std::vector<plan::PeerLists> agree_on_lists(const PlanTask& task, const plan::BlockEdges& edges,
                                            const partition::Ownership& owners) {
  const auto me = static_cast<std::uint32_t>(task.bootstrap.rank());
  auto lists = plan::lists_for(edges, owners, me);
  std::vector<plan::Words> words;
  for (const auto& one : lists) words.push_back(plan::announce(one, owners));
  const auto received = exchange_words(task.bootstrap, words);
  for (std::size_t p = 0; p < lists.size(); ++p)
    if (p != me) plan::take_announced(lists[p], received[p], owners, me, p);
  return lists;
}

}  // namespace

ConnectedPlan plan_block(const PlanTask& task, Rates& rates, Choices choices) {
  auto start = Clock::now();
  ForEach for_each = task.on_workers("load");
  const int rank = task.bootstrap.rank();
  const graph::RowRange all{0, task.graph.vertices()};
  // Blocks, and the order of values in slots, follow from all offsets: all processes must see the same.
  for_each_rows(task, all, for_each,
                [&](std::uint64_t first, std::uint64_t last) { task.graph.verify_offsets(first, last); });
  const auto partition = partition_edges(task, choices.ownership, for_each);
  partition::Ownership ownership = partition.owners();
  auto block = read_block(task, partition, for_each);
  partition::OwnedRows rows = task.graph;
  auto owned = order_vertices(task, rows, ownership, choices, for_each);
  const double seconds_load = seconds_since(start);

  start = Clock::now();
  for_each = task.on_workers("plan");
  auto computed = share_edges(task, rates, choices, std::move(block), ownership, for_each);
  auto lists = agree_on_lists(task, computed, ownership);
  plan::BlockPlan plan(task.graph, std::move(computed), std::move(lists), ownership, rank, owned,
                       choices.layout, task.workers(), for_each, task.options.weighted);
  auto exchange = exchange::Exchange::of_block(task.bootstrap, task.process.link(), plan, choices.strategy,
                                               task.options.encoding, task.workers());
  const auto sizes = task.tile_sizes();
  std::vector<std::uint64_t> edges_of;
  auto bounds = plan.cut_columns(sizes.column_width, task.column_edges(plan.edges()), &edges_of);
  auto columns = spread_columns(task, std::move(bounds), owned.count(), edges_of);
  plan.to_addresses(columns.bounds, for_each);
  EdgeTiles tiles;
  tiles.mirrored.resize(task.processes());
  for (std::size_t owner = 0; owner < tiles.mirrored.size(); ++owner) {
    const bool own = owner == static_cast<std::size_t>(rank);
    const plan::BlockPlan::Rows sources(plan, owner);
    if (!own && sources.sources() == 0) continue;
    (own ? tiles.own : tiles.mirrored[owner]) =
        tiles::build_tiles(task.process.pool(), sources, columns.bounds, columns.memory_nodes, sizes);
  }
  for_each_rows(task, all, for_each,
                [&](std::uint64_t first, std::uint64_t last) { task.graph.release_rows(first, last); });
  return {std::move(choices),   0,
          std::move(ownership), std::move(owned),
          std::move(rows),      std::move(columns),
          std::move(tiles),     std::move(exchange),
          seconds_load,         seconds_since(start)};
}

}  // namespace edgewire::job
