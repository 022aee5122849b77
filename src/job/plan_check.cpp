// Whether what was read from a plan cache can be used: all indexes are in range. Checksums detect damage.
// They do not detect a file that a faulty program, or somebody on purpose, gave the right ones.
#include <fmt/core.h>

#include <algorithm>

#include "error.h"
#include "job/plan_cache.h"
#include "tiles/tile_check.h"

namespace edgewire::job {

namespace {

bool all_below(std::span<const std::uint32_t> numbers, std::uint32_t end) {
  std::uint32_t most = 0;
  for (const std::uint32_t number : numbers) most = std::max(most, number);
  return numbers.empty() || most < end;
}

bool is_mirrored(plan::Strategy strategy, std::size_t list) {
  return strategy == plan::Strategy::cover && list == 1;
}

}  // namespace

void PlanCache::refuse(const std::string& what) const {
  throw Error(
      fmt::format("{}: {}, so it is no plan for this graph; a new plan takes its place", path_, what));
}

void PlanCache::check_choices() const {
  const std::string& name = job_.ownership_name_;
  const bool right_name =
      options_.ownership.starts_with("auto")
          ? name == "hash" || name == "ranges" || (name == partition_file_ && !name.empty())
          : name == options_.ownership;
  const bool right_strategy = options_.choose_strategy ? job_.strategy_ == plan::Strategy::slots ||
                                                             job_.strategy_ == plan::Strategy::cover
                                                       : job_.strategy_ == options_.strategy;
  const bool right_layout = options_.choose_layout
                                ? job_.layout_ == plan::Layout::given || job_.layout_ == plan::Layout::degree
                                : job_.layout_ == options_.layout;
  const bool right_order = static_cast<std::size_t>(job_.order_.order) < tiles::kOrders &&
                           (job_.order_.order != tiles::Order::bins || !options_.weighted);
  if (!right_name || !right_strategy || !right_layout || !right_order)
    refuse("it was made with other choices");
}

void PlanCache::check_stream(std::size_t s) const {
  const std::size_t lists = outgoing_.size() / static_cast<std::size_t>(job_.bootstrap_.size());
  const auto peer = static_cast<std::uint32_t>(s / lists);
  const bool own = static_cast<int>(peer) == job_.bootstrap_.rank();
  const bool mirrors = is_mirrored(job_.strategy_, s % lists), edges = job_.strategy_ == plan::Strategy::edge;
  const std::uint32_t here = job_.owned_->count(), there = job_.ownership_->count(peer);
  const auto& targets = incoming_[s].targets;
  const bool in = mirrors ? all_below(targets, there)
                          : targets.empty() || (std::ranges::is_sorted(targets) && targets.back() < here);
  const auto& out = outgoing_[s];
  const auto many = [&out](bool wanted) { return wanted ? std::size_t{out.slots} : 0; };
  const bool right_sizes = out.indexes.size() == many(mirrors || edges) &&
                           out.ids.size() == many(plan::sends_ids(job_.strategy_)) &&
                           out.weights.size() == many(edges && options_.weighted) &&
                           (edges || out.slots <= (mirrors ? here : there));
  if (!in || !right_sizes || !all_below(out.indexes, here) || !all_below(out.ids, there) ||
      (own && !(targets.empty() && out.slots == 0)))
    refuse(fmt::format("what goes to and from rank {} is out of range", peer));
}

/// Partial sums are the destinations behind the owned vertices, stream by stream, each in columns of its own.
void PlanCache::check_destinations() const {
  const auto& bounds = job_.column_bounds_;
  const std::size_t lists = outgoing_.size() / static_cast<std::size_t>(job_.bootstrap_.size());
  std::uint64_t next = job_.owned_->count();
  for (std::size_t s = 0; s < outgoing_.size(); ++s) {
    if (is_mirrored(job_.strategy_, s % lists)) continue;
    if (outgoing_[s].first_destination != next) refuse("its partial sums have gaps");
    next += outgoing_[s].slots;
    if (!std::binary_search(bounds.begin(), bounds.end(), next)) refuse("a column is of two peers");
  }
  if (bounds.back() != next) refuse("its columns have other destinations");
}

void PlanCache::check_tiles() const {
  struct Column {
    const tiles::Tiles* tiles;
    std::size_t column;
    std::uint64_t sources;
  };
  std::vector<Column> columns;
  const auto add = [&](const tiles::Tiles& tiles, std::uint64_t sources, std::size_t count) {
    if (tiles.columns() != count) refuse("tiles are missing");
    for (std::size_t c = 0; c < count; ++c) columns.push_back({&tiles, c, sources});
  };
  add(job_.tiles_, job_.owned_->count(), job_.column_bounds_.size() - 1);
  for (std::size_t p = 0; p < job_.mirror_tiles_.size(); ++p) {
    const std::uint64_t mirrors =
        job_.strategy_ == plan::Strategy::cover ? incoming_[2 * p + 1].targets.size() : 0;
    add(job_.mirror_tiles_[p], mirrors, mirrors > 0 ? job_.local_columns() : 0);
  }
  for_each_(columns.size(), [&](int, std::uint64_t i) {
    const auto& [tiles, c, sources] = columns[i];
    for (const auto words : tiles->column_data(c)) {
      if (!tiles::are_tiles(words, sources, tiles->column_width(c)))
        refuse(fmt::format("the tiles of column {} are out of range", c));
    }
  });
}

void PlanCache::check() const {
  for_each_(outgoing_.size(), [this](int, std::uint64_t s) { check_stream(s); });
  check_destinations();
  check_tiles();
}

}  // namespace edgewire::job
