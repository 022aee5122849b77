// This file checks whether a plan from the plan cache can be used: all indexes are in range. Checksums detect
// damage. They do not detect a file that a faulty program, or somebody on purpose, gave the right ones.
#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/rooms.h"
#include "dense/job/plan_cache.h"
#include "edgewire/detail/tile_format.h"

namespace edgewire::job {

namespace {

template <class Numbers>
bool all_below(const Numbers& numbers, std::uint32_t end) {
  std::uint32_t most = 0;
  for (const std::uint32_t number : numbers) most = std::max(most, number);
  return numbers.empty() || most < end;
}

bool is_mirrored(const Choices& choices, std::size_t list) { return choices.mirrors() && list == 1; }

void check_stream(const CachedPlan& plan, const PlanTask& task, std::size_t s, const std::string& path) {
  const auto strategy = plan.choices.strategy;
  const std::size_t lists = plan.outgoing.size() / task.processes();
  const auto peer = static_cast<std::uint32_t>(s / lists);
  const bool own = static_cast<int>(peer) == task.bootstrap.rank();
  const bool mirrors = is_mirrored(plan.choices, s % lists), edges = strategy == plan::Strategy::edge;
  const std::uint32_t here = plan.owned.count(), there = plan.ownership.count(peer);
  const auto& targets = plan.incoming[s].targets;
  const bool in = mirrors ? all_below(plan.incoming[s].sources, there)
                          : targets.empty() || (std::ranges::is_sorted(targets) && targets.back() < here);
  const auto& out = plan.outgoing[s];
  const auto many = [&out](bool wanted) { return wanted ? std::size_t{out.slots} : 0; };
  const bool right_sizes = out.indexes.size() == many(mirrors || edges) &&
                           out.ids.size() == many(plan::sends_ids(strategy)) &&
                           out.weights.size() == many(edges && task.options.weighted) &&
                           (edges || out.slots <= (mirrors ? here : there));
  if (!in || !right_sizes || !all_below(out.indexes, here) || !all_below(out.ids, there) ||
      (own && !(plan.incoming[s].slots() == 0 && out.slots == 0)))
    refuse(path, fmt::format("the values to and from rank {} are out of range", peer));
}

/// Checks the destinations. Partial sums are the destinations behind the owned vertices, stream by stream,
/// each in columns of its own.
void check_destinations(const CachedPlan& plan, const PlanTask& task, const std::string& path) {
  const std::size_t lists = plan.outgoing.size() / task.processes();
  std::uint64_t next = plan.owned.count();
  for (std::size_t s = 0; s < plan.outgoing.size(); ++s) {
    if (is_mirrored(plan.choices, s % lists)) continue;
    if (plan.outgoing[s].first_destination != next) refuse(path, "its partial sums have gaps");
    next += plan.outgoing[s].slots;
    if (!std::ranges::binary_search(plan.bounds, next)) refuse(path, "a column belongs to two peers");
  }
  if (plan.bounds.back() != next) refuse(path, "its columns have other destinations");
}

void check_tiles(const CachedPlan& plan, const PlanTask& task, const std::string& path) {
  struct Column {
    const tiles::Tiles* tiles;
    std::size_t column;
    std::uint64_t sources;
  };
  std::vector<Column> columns;
  const auto add = [&](const tiles::Tiles& tiles, std::uint64_t sources, std::size_t count) {
    if (tiles.columns() != count) refuse(path, "tiles are missing");
    for (std::size_t c = 0; c < count; ++c) columns.push_back({&tiles, c, sources});
  };
  const std::uint32_t owned = plan.owned.count();
  add(plan.tiles.own, owned, plan.bounds.size() - 1);
  for (std::size_t p = 0; p < plan.tiles.mirrored.size(); ++p) {
    const std::uint64_t mirrors = plan.choices.mirrors() ? plan.incoming[2 * p + 1].sources.size() : 0;
    add(plan.tiles.mirrored[p], mirrors,
        mirrors > 0 ? mirrored_columns(plan.choices, plan.bounds, owned) : 0);
  }
  task.process.pool().for_each(columns.size(), [&](int, std::uint64_t i) {
    const auto& [tiles, c, sources] = columns[i];
    for (const auto words : tiles->column_data(c)) {
      if (!tiles::are_tiles(words, sources, tiles->column_width(c)))
        refuse(path, fmt::format("the tiles of column {} are out of range", c));
    }
  });
}

}  // namespace

std::size_t mirrored_columns(const Choices& choices, std::span<const std::uint32_t> bounds,
                             std::uint32_t owned) {
  return choices.edges_have_owners() ? bounds.size() - 1 : local_columns(bounds, owned);
}

void refuse(const std::string& path, const std::string& what) {
  throw Error(fmt::format("{}: {}, so it is no plan for this graph; a new plan takes its place", path, what));
}

void check_choices(const Choices& read, const DenseOptions& options, const std::string& path) {
  const std::string& name = read.ownership;
  const bool right_name = options.ownership.starts_with("auto")
                              ? name == "hash" || name == "ranges" || partition::owns_edges(name) ||
                                    (name == partition::partition_file(options.ownership) && !name.empty())
                              : name == options.ownership;
  const bool right_strategy = options.choose_strategy ? read.strategy == plan::Strategy::slots ||
                                                            read.strategy == plan::Strategy::cover
                                                      : read.strategy == options.strategy;
  const bool right_layout = options.choose_layout
                                ? read.layout == plan::Layout::given || read.layout == plan::Layout::degree
                                : read.layout == options.layout;
  const bool right_order = static_cast<std::size_t>(read.order) < tiles::kOrders &&
                           (read.order != tiles::Order::bins || !options.weighted);
  if (!right_name || !right_strategy || !plan::goes_with(read.strategy, name) ||
      (!options.devices.empty() && partition::owns_edges(name)) || !right_layout || !right_order)
    refuse(path, "it was made with other choices");
}

void check_plan(const CachedPlan& plan, const PlanTask& task, const std::string& path) {
  task.process.pool().for_each(plan.outgoing.size(),
                               [&](int, std::uint64_t s) { check_stream(plan, task, s, path); });
  check_destinations(plan, task, path);
  check_tiles(plan, task, path);
}

}  // namespace edgewire::job
