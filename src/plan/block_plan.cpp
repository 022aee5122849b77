#include "plan/block_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "error.h"
#include "plan/column_addresses.h"
#include "plan/edge_holders.h"
#include "plan/fetch_rows.h"
#include "plan/look_up.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kBlocksTaken = 64;  // row blocks that a worker takes at a time
constexpr std::uint32_t kSampleStep = 16;   // of so many row blocks, one is looked at to cut columns

/// Puts vertices, which are ascending, into the order in which OwnedVertices keeps them.
void order_as_kept(const graph::GraphFile& graph, Layout layout, std::vector<VertexId>& vertices) {
  if (layout == Layout::given) return;
  const auto offsets = graph.offsets();
  std::vector<std::pair<std::uint64_t, VertexId>> keys;  // high degrees first
  keys.reserve(vertices.size());
  for (const auto v : vertices) keys.emplace_back(~(offsets[v + std::size_t{1}] - offsets[v]), v);
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 0; i < keys.size(); ++i) vertices[i] = keys[i].second;
}

}  // namespace

bool owns_edges(std::string_view ownership) noexcept { return ownership == "hilbert" || ownership == "grid"; }

bool goes_with(Strategy strategy, std::string_view ownership) noexcept {
  return !owns_edges(ownership) || strategy == Strategy::slots;
}

std::string strategies_for(std::string_view ownership) {
  std::string list;
  for (const Strategy strategy : kStrategies)
    if (goes_with(strategy, ownership)) list.append(list.empty() ? "" : " or ").append(to_name(strategy));
  return list;
}

EdgePartition partition_edges(std::string_view how, const Rows& rows, int processes, int threads) {
  const Cells cells(rows, threads);
  return how == "grid" ? EdgePartition::grid(cells, processes) : EdgePartition::hilbert(cells, processes);
}

BlockShare share_of_block(const Rows& rows, const EdgePartition& partition, int rank,
                          const CountOptions& options) {
  const auto me = static_cast<std::uint64_t>(rank);
  std::vector<BlockShare::Peer> peers(static_cast<std::size_t>(partition.processes()));
  std::vector<std::uint16_t> owners(rows.vertices());
  const auto cost =
      visit_holders(rows, partition, options,
                    [&](VertexId vertex, std::uint64_t owner, const ProcessSet& out, const ProcessSet& in) {
                      owners[vertex] = static_cast<std::uint16_t>(owner);
                      if (owner != me) {
                        if (out.has(me)) peers[owner].mirrors_from.push_back(vertex);
                        if (in.has(me)) peers[owner].sums_to.push_back(vertex);
                        return;
                      }
                      out.for_each([&](std::uint64_t p) {
                        if (p != me) peers[p].mirrors_to.push_back(vertex);
                      });
                      in.for_each([&](std::uint64_t p) {
                        if (p != me) peers[p].sums_from.push_back(vertex);
                      });
                    });
  return {Ownership::from_table(std::move(owners), partition.processes()), std::move(peers),
          cost.computed_edges[me]};
}

BlockPlan::BlockPlan(const graph::GraphFile& graph, EdgePartition partition,
                     std::vector<BlockShare::Peer> share, const Ownership& ownership, int rank,
                     const OwnedVertices& owned, Layout layout, int workers, const ForEach& for_each,
                     bool weighted)
    : graph_(graph),
      partition_(std::move(partition)),
      owned_(owned),
      rank_(static_cast<std::uint32_t>(rank)),
      weighted_(weighted) {
  number(std::move(share), ownership, layout);
  count_edges(workers, for_each);
}

void BlockPlan::number(std::vector<BlockShare::Peer> share, const Ownership& ownership, Layout layout) {
  destination_of_.assign(graph_.vertices(), kNoDestination);
  for (OwnedIndex i{}; i < owned_.count(); ++i) destination_of_[owned_.ids()[i]] = i;
  std::uint64_t sources = owned_.count(), destinations = owned_.count();
  for (auto& list : share) {
    Peer& peer = peers_.emplace_back();
    for (auto* vertices : {&list.mirrors_to, &list.mirrors_from, &list.sums_to, &list.sums_from})
      order_as_kept(graph_, layout, *vertices);
    for (const auto v : list.mirrors_to) peer.mirrors_to.emplace_back(destination_of_[v]);
    for (const auto v : list.mirrors_from) peer.mirrors_from.push_back(ownership.place(v).local);
    for (const auto v : list.sums_from) peer.sums_from.emplace_back(destination_of_[v]);
    peer.first_sum = static_cast<std::uint32_t>(destinations);
    peer.sums_to = static_cast<std::uint32_t>(list.sums_to.size());
    for (const auto v : list.sums_to) destination_of_[v] = static_cast<std::uint32_t>(destinations++);
    mirrors_.insert(mirrors_.end(), list.mirrors_from.begin(), list.mirrors_from.end());
    sources += list.mirrors_from.size();
    list = {};
  }
  if (std::max(sources, destinations) >= kNoDestination) {
    throw Error(
        fmt::format("{} sources and {} destinations in one process, more than 2^32: use more processes",
                    sources, destinations));
  }
  destinations_ = static_cast<std::uint32_t>(destinations);
}

/// Counts the edges of all row blocks, and those of a sample by destination.
void BlockPlan::count_edges(int workers, const ForEach& for_each) {
  const std::uint64_t blocks = (sources() + std::uint64_t{kRowBlock} - 1) / kRowBlock;
  edges_before_.assign(blocks + 1, 0);
  const std::uint32_t step = blocks < 1024 ? 1 : kSampleStep;
  struct Worker {
    EdgeRows rows;
    std::vector<std::uint32_t> counts;
  };
  std::vector<Worker> all(static_cast<std::size_t>(workers));
  for_each((blocks + kBlocksTaken - 1) / kBlocksTaken, [&](int w, std::uint64_t group) {
    Worker& worker = all[static_cast<std::size_t>(w)];
    worker.counts.resize(destinations_ / kColumnGranule + 1);
    for (std::uint64_t b = group * kBlocksTaken; b < std::min(blocks, (group + 1) * kBlocksTaken); ++b) {
      const auto first = static_cast<std::uint32_t>(b * kRowBlock);
      read(first, std::min(sources(), first + kRowBlock), worker.rows);
      edges_before_[b + 1] = worker.rows.destinations.size();
      if (b % step != 0) continue;
      for (const auto d : worker.rows.destinations) ++worker.counts[d / kColumnGranule];
    }
  });
  std::partial_sum(edges_before_.begin(), edges_before_.end(), edges_before_.begin());
  granule_edges_.assign(destinations_ / kColumnGranule + 1, 0);
  for (const auto& worker : all)
    for (std::size_t g = 0; g < worker.counts.size(); ++g)
      granule_edges_[g] += std::uint64_t{worker.counts[g]} * step;
}

std::vector<std::uint32_t> BlockPlan::cut_columns(std::uint32_t width, std::uint64_t edges_per_column,
                                                  std::vector<std::uint64_t>* edges) const {
  std::vector<std::uint32_t> bounds{0};
  plan::cut_columns(bounds, 0, owned_.count(), width, edges_per_column, granule_edges_);
  for (const Peer& peer : peers_)
    plan::cut_columns(bounds, peer.first_sum, peer.first_sum + peer.sums_to, width, edges_per_column,
                      granule_edges_);
  if (edges != nullptr) *edges = edges_of_columns(bounds, granule_edges_);
  return bounds;
}

/// A row holds edges of other processes, too: the cell of an edge says whose it is.
void BlockPlan::read(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const {
  if (weighted_) return read_weighted(first, last, rows);
  const auto offsets = graph_.offsets();
  const VertexId* const targets = graph_.targets().data();
  std::array<VertexId, kRowBlock> ahead;
  const std::uint32_t more = std::min(kRowBlock, sources() - last);
  for (std::uint32_t i = 0; i < more; ++i) ahead[i] = vertex(last + i);
  fetch_rows(graph_, std::span(ahead).first(more));
  std::uint64_t most = 0;
  for (std::uint32_t s = first; s < last; ++s)
    most += offsets[vertex(s) + std::size_t{1}] - offsets[vertex(s)];
  rows.destinations.resize(most + 1);
  rows.ends.clear();
  std::uint32_t* next = rows.destinations.data();
  for (std::uint32_t s = first; s < last; ++s) {
    const VertexId v = vertex(s);
    const std::uint16_t* const holders = partition_.row(v);
    const VertexId* const end = targets + offsets[v + std::size_t{1}];
    for (const VertexId* target = targets + offsets[v]; target != end; ++target) {
      *next = *target;
      next += holders[*target >> partition_.shift()] == rank_ ? 1 : 0;  // no branch depends on it
    }
    rows.ends.push_back(static_cast<std::uint32_t>(next - rows.destinations.data()));
  }
  rows.destinations.resize(rows.ends.empty() ? 0 : rows.ends.back());
  look_up(destination_of_, rows.destinations);
}

void BlockPlan::read_weighted(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const {
  rows.destinations.clear();
  rows.ends.clear();
  rows.weights.clear();
  const auto offsets = graph_.offsets();
  for (std::uint32_t s = first; s < last; ++s) {
    const VertexId v = vertex(s);
    const std::uint16_t* const holders = partition_.row(v);
    for (std::uint64_t e = offsets[v]; e < offsets[v + std::size_t{1}]; ++e) {
      const std::uint32_t target = graph_.targets()[e];
      if (holders[target >> partition_.shift()] != rank_) continue;
      rows.destinations.push_back(destination_of_[target]);
      rows.weights.push_back(graph_.weights()[e]);
    }
    rows.ends.push_back(static_cast<std::uint32_t>(rows.destinations.size()));
  }
}

BlockColumns::BlockColumns(BlockPlan plan, std::span<const std::uint32_t> bounds, const ForEach& for_each)
    : plan_(std::move(plan)) {
  to_addresses(plan_.destination_of_, bounds, for_each);
}

}  // namespace edgewire::plan
