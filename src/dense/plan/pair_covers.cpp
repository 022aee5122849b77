#include "dense/plan/pair_covers.h"
#include "base/ranked_bits.h"
#include "dense/plan/copy_others.h"

#include <algorithm>

#include "dense/plan/edge_rows.h"
namespace edgewire::plan {

PairCovers::PairCovers(const partition::OwnedRows& rows, const partition::Ownership& ownership, int rank,
                       const OwnedVertices& owned, int workers, const ForEach& for_each, bool weighted)
    : owned_(rows),
      ownership_(&ownership),
      rank_(static_cast<std::uint32_t>(rank)),
      weighted_(weighted),
      rows_(std::make_unique<PairRows>(rows, ownership, rank, owned.edges(), workers, for_each)),
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

/// The edges that move: those that must, and of the free ones all of each of the first sources, as long as
/// they are no more than `free_edges`. The indexes of the sources whose edges all move are added to `whole`;
/// counts both kinds in the cover.
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
      next[0] = mirrors.below(index);
      next[1] = static_cast<std::uint32_t>(end - next - 2);
      next = weighted_ ? copy_weights(peer, row.source, all ? nullptr : &summed, end) : end;
    }
  }
  moved.resize(static_cast<std::size_t>(next - moved.data()));
  return moved;
}

/// The weights of the edges from a source (local number) to the peer, but for destinations in `left_out`, in
/// the order of the row, as bits. Returns their end.
std::uint32_t* PairCovers::copy_weights(std::uint32_t peer, LocalNumber source, const Bits* left_out,
                                        std::uint32_t* out) const {
  const VertexId v = ownership_->vertex(rank_, source);
  const bool floats = owned_->graph().float_weights();
  const auto targets = owned_->targets();
  const graph::Weights weights = owned_->weights();
  const auto [begin, end] = owned_->range(v);
  for (std::uint64_t e = begin; e < end; ++e) {
    const partition::Place place = ownership_->place(targets[e]);
    if (place.owner != peer || (left_out != nullptr && left_out->test(place.local))) continue;
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
