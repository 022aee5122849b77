#include "plan/block_plan.h"

#include <fmt/core.h>

#include <algorithm>
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
  std::uint64_t destinations = owned_.count();
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
    mirrors_.push_back(std::move(list.mirrors_from));
    list = {};
  }
  if (destinations >= kNoDestination)
    throw Error(
        fmt::format("{} destinations in one process, more than 2^32: use more processes", destinations));
  destinations_ = static_cast<std::uint32_t>(destinations);
}

/// Counts the edges of all row blocks, and those of a sample by destination.
void BlockPlan::count_edges(int workers, const ForEach& for_each) {
  struct Worker {
    EdgeRows rows;
    std::vector<std::uint64_t> counts;
  };
  std::vector<Worker> all(static_cast<std::size_t>(workers));
  for (std::size_t owner = 0; owner < peers_.size(); ++owner) {
    const auto count = static_cast<std::uint32_t>(sources(owner).size());
    const std::uint64_t blocks = (count + std::uint64_t{kRowBlock} - 1) / kRowBlock;
    auto& before = edges_before_.emplace_back(blocks + 1);
    const std::uint32_t step = blocks < 1024 ? 1 : kSampleStep;
    for_each((blocks + kBlocksTaken - 1) / kBlocksTaken, [&](int w, std::uint64_t group) {
      Worker& worker = all[static_cast<std::size_t>(w)];
      worker.counts.resize(destinations_ / kColumnGranule + 1);
      for (std::uint64_t b = group * kBlocksTaken; b < std::min(blocks, (group + 1) * kBlocksTaken); ++b) {
        const auto first = static_cast<std::uint32_t>(b * kRowBlock);
        read(owner, first, std::min(count, first + kRowBlock), worker.rows);
        before[b + 1] = worker.rows.destinations.size();
        if (b % step != 0) continue;
        for (const auto d : worker.rows.destinations) worker.counts[d / kColumnGranule] += step;
      }
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
    edges_ += before.back();
  }
  granule_edges_.assign(destinations_ / kColumnGranule + 1, 0);
  for (const auto& worker : all)
    for (std::size_t g = 0; g < worker.counts.size(); ++g) granule_edges_[g] += worker.counts[g];
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

/// Copies the targets of the edges that this process holds, of all in the row of `source`. Returns the end of
/// the copies; what lies behind it in `out`, which has room for all of them and one more, may be anything.
std::uint32_t* BlockPlan::copy_mine(VertexId source, std::span<const VertexId> targets,
                                    std::uint32_t* out) const {
  const std::uint16_t* const holders = partition_.row(source);
  const unsigned shift = partition_.shift();
  const std::uint32_t me = rank_;
  for (const VertexId target : targets) {
    *out = target;
    out += holders[target >> shift] == me ? 1 : 0;  // no branch depends on it
  }
  return out;
}

void BlockPlan::read(std::size_t owner, std::uint32_t first, std::uint32_t last, EdgeRows& rows) const {
  const auto vertices = sources(owner);
  const auto offsets = graph_.offsets();
  fetch_rows(graph_, vertices.subspan(last, std::min<std::size_t>(kRowBlock, vertices.size() - last)));
  std::uint64_t most = 0;
  for (const VertexId v : vertices.subspan(first, last - first))
    most += offsets[v + std::size_t{1}] - offsets[v];
  rows.destinations.resize(most + 1);
  rows.ends.clear();
  rows.weights.clear();
  std::uint32_t* next = rows.destinations.data();
  for (const VertexId v : vertices.subspan(first, last - first)) {
    const auto targets = graph_.targets().subspan(offsets[v], offsets[v + std::size_t{1}] - offsets[v]);
    const std::uint32_t* mine = next;
    next = copy_mine(v, targets, next);
    rows.ends.push_back(static_cast<std::uint32_t>(next - rows.destinations.data()));
    if (!weighted_) continue;
    // Of edges with the same ends, this process holds all or none.
    for (std::size_t e = 0; mine != next; ++e) {
      if (targets[e] != *mine) continue;
      rows.weights.push_back(graph_.weights()[offsets[v] + e]);
      ++mine;
    }
  }
  rows.destinations.resize(rows.ends.empty() ? 0 : rows.ends.back());
  look_up(destination_of_, rows.destinations);
}

BlockColumns::BlockColumns(BlockPlan plan, std::span<const std::uint32_t> bounds, const ForEach& for_each)
    : plan_(std::move(plan)) {
  to_addresses(plan_.destination_of_, bounds, for_each);
}

}  // namespace edgewire::plan
