#include "dense/plan/pair_covers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "base/bits.h"
#include "base/rooms.h"
#include "dense/plan/edge_rows.h"
#include "dense/plan/owner_filter.h"
#include "edgewire/detail/memory.h"

namespace edgewire::plan {

namespace {

// Rows of a group, for all peers: a worker's group stays in its L2 cache.
constexpr std::uint32_t kGroupRows = 1 << 16;
constexpr std::uint64_t kLeastChunk = 1 << 10, kMostChunk = 1 << 18;  // number of edges of a chunk
constexpr std::uint32_t kAsked = 64;  // number of rows that are prefetched together

/// Calls row(local, targets) for owned vertices with local numbers [first, last), in that order.
template <class Row>
void for_each_row(const partition::OwnedRows& rows, const partition::Ownership& ownership, std::uint32_t rank,
                  std::uint32_t first, std::uint32_t last, const Row& row) {
  std::array<VertexId, kAsked> vertices, next;
  const auto ask = [&](std::uint32_t from) {
    const std::uint32_t count = std::min(kAsked, last - from);
    ownership.visit([&](const auto& scheme) {
      for (std::uint32_t i = 0; i < count; ++i) next[i] = scheme.vertex(rank, LocalNumber(from + i));
    });
    rows.fetch(std::span(next).first(count));
  };
  ask(first);
  for (LocalNumber local(first); local < last; ++local) {
    const std::uint32_t i = (local - first) % kAsked;
    if (i == 0) {
      vertices = next;
      ask(std::min<std::uint32_t>(last, local + kAsked));
    }
    row(local, rows.row(vertices[i]));
  }
}

}  // namespace

/// A copy of the edges that leave a process, by the peer to which they go. It takes up to 6 bytes for each
/// edge and 16 for each source and peer.
class PairRows {
 public:
  /// Copies the edges. `owned_edges`: the number of edges of the vertices of `rank`. `workers`: those of
  /// for_each. Throws Error.
  PairRows(partition::OwnedRows rows, const partition::Ownership& ownership, int rank,
           std::uint64_t owned_edges, int workers, const ForEach& for_each);
  /// Returns the edges that go to the peer; none for this rank. The result points into this object.
  PairEdges edges(std::uint32_t peer) const;

 private:
  struct Worker {
    std::vector<LocalNumber*> next, end;  ///< free part of a peer's chunk, [peer]
    std::vector<LocalNumber> inside;      ///< targets of edges between owned vertices, which are not needed
    std::vector<PairRow> rows;            ///< rows of the current group, [peer * group_ + number]
  };
  LocalNumber* take(std::uint64_t edges) noexcept;
  void split(Worker& worker, std::uint64_t group);

  partition::OwnedRows owned_;
  const partition::Ownership& ownership_;
  OwnerFilter filter_;
  std::uint32_t rank_, rows_;
  std::size_t processes_;
  std::uint32_t group_;  ///< number of rows that a worker takes at a time
  std::size_t groups_;
  std::vector<Worker> workers_;
  std::uint64_t chunk_;           ///< number of edges of a chunk
  topology::NodeMemory targets_;  ///< room for all chunks; unused pages are never touched
  std::atomic<std::uint64_t> used_{0};
  std::vector<std::vector<PairRow>> parts_;  ///< rows, [group * processes + peer]
};

PairRows::PairRows(partition::OwnedRows rows, const partition::Ownership& ownership, int rank,
                   std::uint64_t owned_edges, int workers, const ForEach& for_each)
    : owned_(std::move(rows)),
      ownership_(ownership),
      filter_(ownership),
      rank_(static_cast<std::uint32_t>(rank)),
      rows_(ownership.count(rank_)),
      processes_(static_cast<std::size_t>(ownership.processes())),
      group_(std::max(kAsked, kGroupRows / static_cast<std::uint32_t>(processes_))),
      groups_((rows_ + std::size_t{group_} - 1) / group_),
      workers_(static_cast<std::size_t>(workers)),
      chunk_(std::clamp<std::uint64_t>(owned_edges / (8 * workers_.size() * processes_), kLeastChunk,
                                       kMostChunk)),
      targets_((owned_edges + owned_edges / 7 + workers_.size() * processes_ * chunk_) * sizeof(LocalNumber),
               -1, "the edges to the peers"),
      parts_(groups_ * processes_) {
  for (Worker& worker : workers_) {
    worker.next.resize(processes_);
    worker.end.resize(processes_);
    worker.rows.resize(processes_ * group_);
  }
  for_each(groups_, [&](int worker, std::uint64_t group) { split(workers_[worker], group); });
}

PairEdges PairRows::edges(std::uint32_t peer) const {
  PairEdges edges{{}, rows_, ownership_.count(peer)};
  for (std::size_t g = 0; g < groups_; ++g) edges.parts.push_back(parts_[g * processes_ + peer]);
  return edges;
}

LocalNumber* PairRows::take(std::uint64_t edges) noexcept {
  // Relaxed: workers only need different places.
  return targets_.as<LocalNumber>().data() + used_.fetch_add(edges, std::memory_order_relaxed);
}

/// Copies the rows of a group. A chunk of each worker and peer gets its rows until one might not fit: no row
/// is longer than an eighth of it, so that an eighth is wasted at most. Longer rows are counted first.
void PairRows::split(Worker& worker, std::uint64_t group) {
  const auto first = static_cast<std::uint32_t>(group * group_);
  const std::uint32_t last = std::min(rows_, first + group_);
  std::vector<LocalNumber*> begins(processes_), apart(processes_);
  std::vector<std::uint64_t> counts(processes_);
  std::vector<std::uint32_t> used(processes_);
  for_each_row(owned_, ownership_, rank_, first, last, [&](LocalNumber local, std::span<const VertexId> row) {
    const bool is_long = row.size() > chunk_ / 8;
    if (is_long) {
      std::fill(counts.begin(), counts.end(), 0);
      filter_.count(row, counts);
    }
    if (worker.inside.size() < row.size()) worker.inside.resize(row.size());
    worker.next[rank_] = worker.inside.data();
    worker.end[rank_] = worker.inside.data() + worker.inside.size();
    for (std::size_t p = 0; p < processes_; ++p) {
      if (is_long && p != rank_) {
        apart[p] = take(counts[p]);
      } else if (static_cast<std::uint64_t>(worker.end[p] - worker.next[p]) < row.size()) {
        worker.next[p] = take(chunk_);
        worker.end[p] = worker.next[p] + chunk_;
      }
    }
    auto& next = is_long ? apart : worker.next;
    if (is_long) apart[rank_] = worker.inside.data();
    std::ranges::copy(next, begins.begin());
    filter_.deal(row, next);
    next[rank_] = begins[rank_];
    for (std::size_t p = 0; p < processes_; ++p) {  // no branch depends on whether there is an edge
      const auto edges = static_cast<std::uint32_t>(next[p] - begins[p]);
      worker.rows[p * group_ + used[p]] = {begins[p], edges, local};
      used[p] += edges > 0 ? 1 : 0;
    }
  });
  for (std::size_t p = 0; p < processes_; ++p) {
    const auto rows = std::span(worker.rows).subspan(p * group_, used[p]);
    parts_[group * processes_ + p].assign(rows.begin(), rows.end());
  }
}

PairCovers::PairCovers(const partition::OwnedRows& rows, const partition::Ownership& ownership, int rank,
                       const OwnedVertices& owned, int workers, const ForEach& for_each, bool weighted)
    : owned_(rows),
      ownership_(&ownership),
      rank_(static_cast<std::uint32_t>(rank)),
      weighted_(weighted),
      rows_(std::make_shared<PairRows>(rows, ownership, rank, owned.edges(), workers, for_each)),
      covers_(static_cast<std::size_t>(ownership.processes())) {
  mirrors_.resize(covers_.size());
  moved_.resize(covers_.size());
  for_each(covers_.size(), [&](int, std::uint64_t p) {
    covers_[p] = minimum_cover(rows_->edges(static_cast<std::uint32_t>(p)));
    Bits mirrors(owned.count());
    for (const LocalNumber mirror : covers_[p].mirrors) mirrors.add(owned.indexes()[mirror]);
    mirrors_[p] = mirrors.members<OwnedIndex>();
    std::vector<OwnedIndex> none;
    moved_[p] = pack(owned, static_cast<std::uint32_t>(p), 0, none);
  });
}

std::vector<MovedEdges> PairCovers::take_moved(const OwnedVertices& owned,
                                               std::span<const std::uint64_t> free_edges,
                                               std::vector<std::vector<OwnedIndex>>& whole,
                                               const ForEach& for_each) {
  whole.resize(covers_.size());
  for_each(covers_.size(), [&](int, std::uint64_t p) {
    if (free_edges[p] != 0) moved_[p] = pack(owned, static_cast<std::uint32_t>(p), free_edges[p], whole[p]);
  });
  rows_.reset();
  return std::move(moved_);
}

/// Returns the edges that move: those that must, and of the free ones all of each of the first sources, as
/// long as they are no more than `free_edges`. The indexes of the sources whose edges all move are added to
/// `whole`. It also counts both kinds in the cover.
MovedEdges PairCovers::pack(const OwnedVertices& owned, std::uint32_t peer, std::uint64_t free_edges,
                            std::vector<OwnedIndex>& whole) {
  const PairEdges edges = rows_->edges(peer);
  PairCover& cover = covers_[peer];
  const RankedBits mirrors(Bits(owned.count(), mirrors_[peer]));
  const Bits summed(edges.destinations, cover.sums);
  std::size_t most = 0;
  for (const auto& part : edges.parts)
    for (const PairRow& row : part) most += row.edges;
  MovedEdges moved((1 + weight_bytes(owned_->graph(), weighted_) / sizeof(std::uint32_t)) * most +
                   2 * mirrors_[peer].size() + kCopySlack);
  std::uint32_t* next = moved.data();
  cover.moved_edges = cover.free_edges = 0;
  for (const auto& part : edges.parts) {
    for (const PairRow& row : part) {
      const OwnedIndex index = owned.indexes()[row.source];
      if (!mirrors.has(index)) continue;
      std::uint32_t* end = copy_others(summed, plain(row.span()), next + 2);
      const auto must = static_cast<std::uint64_t>(end - next - 2);
      const std::uint64_t free = row.edges - must;
      cover.moved_edges += must;
      cover.free_edges += free;
      const bool all = free > 0 && free <= free_edges;
      if (all) {
        end = std::ranges::copy(row.span(), next + 2).out;
        free_edges -= free;
        whole.push_back(index);
      }
      if (end == next + 2) continue;
      next[0] = static_cast<std::uint32_t>(mirrors.below(index));
      next[1] = static_cast<std::uint32_t>(end - next - 2);
      next = weighted_ ? copy_weights(peer, row.source, all ? nullptr : &summed, end) : end;
    }
  }
  moved.resize(static_cast<std::size_t>(next - moved.data()));
  return moved;
}

/// Copies the weights of the edges from a source (local number) to the peer, except for destinations in
/// `left_out`, in the order of the row, as bits. Returns their end.
std::uint32_t* PairCovers::copy_weights(std::uint32_t peer, LocalNumber source, const Bits* left_out,
                                        std::uint32_t* out) const {
  const VertexId v = ownership_->vertex(rank_, source);
  const bool floats = owned_->graph().float_weights();
  const auto targets = owned_->targets();
  const graph::Weights weights = owned_->weights();
  const auto [begin, end] = owned_->range(v);
  for (std::uint64_t e = begin; e < end; ++e) {
    const Home home = ownership_->home(targets[e]);
    if (home.owner != peer || (left_out != nullptr && left_out->test(home.local))) continue;
    const double weight = weights[e];
    if (floats) {
      const auto rounded = static_cast<float>(weight);
      std::memcpy(out++, &rounded, sizeof rounded);
    } else {
      std::memcpy(out, &weight, sizeof weight);
      out += sizeof weight / sizeof *out;
    }
  }
  return out;
}

}  // namespace edgewire::plan
