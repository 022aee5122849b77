#include "dense/plan/block_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "partition/column_addresses.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kBlocksTaken = 64;  // number of row blocks that a worker takes at a time
constexpr std::uint32_t kNoRow = 0xFFFFFFFF;
constexpr std::uint32_t kSampleStep = 16;  // number of row blocks of which one is looked at to cut columns

/// Puts vertices, which are ascending, into the order in which OwnedVertices keeps them.
void order_as_kept(const Graph& graph, Layout layout, std::vector<VertexId>& vertices) {
  if (layout == Layout::given) return;
  const auto offsets = graph.offsets();
  std::vector<std::pair<std::uint64_t, VertexId>> keys;  // keys, high degrees first
  keys.reserve(vertices.size());
  for (const auto v : vertices) keys.emplace_back(~(offsets[v + std::size_t{1}] - offsets[v]), v);
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < keys.size(); ++i) vertices[i] = keys[i].second;
}

}  // namespace

bool goes_with(Strategy strategy, std::string_view ownership) noexcept {
  return !partition::owns_edges(ownership) || !sends_ids(strategy);
}

std::string strategies_for(std::string_view ownership) {
  std::string list;
  for (const Strategy strategy : kStrategies)
    if (goes_with(strategy, ownership)) list.append(list.empty() ? "" : " or ").append(to_name(strategy));
  return list;
}

BlockPlan::BlockPlan(const Graph& graph, BlockEdges edges, std::vector<PeerLists> lists,
                     const partition::Ownership& ownership, int rank, const OwnedVertices& owned,
                     Layout layout, int workers, const ForEach& for_each, bool weighted)
    : graph_(graph),
      block_(std::move(edges)),
      owned_(owned),
      rank_(static_cast<std::uint32_t>(rank)),
      weighted_(weighted) {
  number(std::move(lists), ownership, layout);
  count_edges(workers, for_each);
}

void BlockPlan::number(std::vector<PeerLists> lists, const partition::Ownership& ownership, Layout layout) {
  const std::uint64_t ids = graph_.vertices(), affordable = owned_.count();
  partition::VertexSet reached(ids, affordable, [&](const auto& take) {
    for (const auto v : owned_.ids()) take(v);
    for (const auto& list : lists)
      for (const auto v : list.sums_to) take(v);
  });
  destination_of_ = partition::VertexNumbers(std::move(reached), ids, affordable);
  for (OwnedIndex i{}; i < owned_.count(); ++i) destination_of_[owned_.ids()[i]] = i;
  std::uint64_t destinations = owned_.count();
  for (auto& list : lists) {
    const bool mine = peers_.size() == rank_;
    Peer& peer = peers_.emplace_back();
    for (auto* vertices : {&list.mirrors_to, &list.mirrors_from, &list.sums_to, &list.sums_from})
      order_as_kept(graph_, layout, *vertices);
    for (const auto v : list.mirrors_to) peer.mirrors_to.emplace_back(destination_of_[v]);
    for (const auto v : list.mirrors_from) peer.mirrors_from.push_back(ownership.home(v).local);
    for (const auto v : list.sums_from) peer.sums_from.emplace_back(destination_of_[v]);
    peer.first_sum = static_cast<std::uint32_t>(destinations);
    peer.sums_to = static_cast<std::uint32_t>(list.sums_to.size());
    for (const auto v : list.sums_to) destination_of_[v] = static_cast<std::uint32_t>(destinations++);
    rows_of_.push_back(find_rows(mine ? owned_.ids() : std::span<const VertexId>(list.mirrors_from)));
    list = {};
  }
  if (destinations >= partition::kNoDestination)
    throw Error(
        fmt::format("{} destinations in one process, more than 2^32: use more processes", destinations));
  destinations_ = static_cast<std::uint32_t>(destinations);
}

/// Returns the rows of sources; kNoRow for those without edges here.
std::vector<std::uint32_t> BlockPlan::find_rows(std::span<const VertexId> sources) const {
  std::vector<std::uint32_t> rows;
  rows.reserve(sources.size());
  for (const VertexId source : sources) {
    const auto found = std::ranges::lower_bound(block_.sources, source);
    const bool there = found != block_.sources.end() && *found == source;
    rows.push_back(there ? static_cast<std::uint32_t>(found - block_.sources.begin()) : kNoRow);
  }
  return rows;
}

/// Counts the edges of all row blocks, and those of a sample by destination.
void BlockPlan::count_edges(int workers, const ForEach& for_each) {
  struct Worker {
    EdgeRows rows;
    std::vector<std::uint64_t> counts;
  };
  std::vector<Worker> all(static_cast<std::size_t>(workers));
  for (std::size_t owner = 0; owner < peers_.size(); ++owner) {
    const std::uint32_t count = sources(owner);
    const std::uint64_t blocks = (count + std::uint64_t{kRowBlock} - 1) / kRowBlock;
    auto& before = edges_before_.emplace_back(blocks + 1);
    const std::uint32_t step = blocks < 1024 ? 1 : kSampleStep;
    for_each((blocks + kBlocksTaken - 1) / kBlocksTaken, [&](int w, std::uint64_t group) {
      Worker& worker = all[w];
      worker.counts.resize(destinations_ / partition::kColumnGranule + 1);
      for (std::uint64_t b = group * kBlocksTaken; b < std::min(blocks, (group + 1) * kBlocksTaken); ++b) {
        const auto first = static_cast<std::uint32_t>(b * kRowBlock);
        read(owner, first, std::min(count, first + kRowBlock), worker.rows);
        before[b + 1] = worker.rows.destinations.size();
        if (b % step != 0) continue;
        for (const auto d : worker.rows.destinations) worker.counts[d / partition::kColumnGranule] += step;
      }
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
  }
  granule_edges_.assign(destinations_ / partition::kColumnGranule + 1, 0);
  for (const auto& worker : all)
    for (std::size_t g = 0; g < worker.counts.size(); ++g) granule_edges_[g] += worker.counts[g];
}

std::vector<std::uint32_t> BlockPlan::cut_columns(std::uint32_t width, std::uint64_t edges_per_column,
                                                  std::vector<std::uint64_t>* edges) const {
  std::vector<std::uint32_t> bounds{0};
  partition::cut_columns(bounds, 0, owned_.count(), width, edges_per_column, granule_edges_);
  for (const Peer& peer : peers_)
    partition::cut_columns(bounds, peer.first_sum, peer.first_sum + peer.sums_to, width, edges_per_column,
                           granule_edges_);
  if (edges != nullptr) *edges = partition::edges_of_columns(bounds, granule_edges_);
  return bounds;
}

void BlockPlan::read(std::size_t owner, std::uint32_t first, std::uint32_t last, EdgeRows& rows) const {
  const auto blocks_rows = std::span(rows_of_[owner]).subspan(first, last - first);
  std::size_t edges = 0;
  for (const std::uint32_t row : blocks_rows) edges += row != kNoRow ? block_.row(row).size() : 0;
  const auto ids = rows.room_for_ids(edges);
  auto next = ids.begin();
  rows.ends.clear();
  rows.weights.clear();
  for (const std::uint32_t row : blocks_rows) {
    if (row != kNoRow) {
      next = std::ranges::copy(plain(block_.row(row)), next).out;
      if (weighted_)
        rows.weights.insert(rows.weights.end(),
                            block_.weights.begin() + static_cast<std::ptrdiff_t>(block_.ends[row]),
                            block_.weights.begin() + static_cast<std::ptrdiff_t>(block_.ends[row + 1]));
    }
    rows.ends.push_back(static_cast<std::uint32_t>(next - ids.begin()));
  }
  partition::look_up(destination_of_, ids, rows.destinations);
}

void BlockPlan::to_addresses(std::span<const std::uint32_t> bounds, const ForEach& for_each) {
  partition::to_addresses(destination_of_.all(), bounds, for_each);
}

}  // namespace edgewire::plan
