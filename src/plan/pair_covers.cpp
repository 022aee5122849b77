#include "plan/pair_covers.h"

#include <algorithm>
#include <bit>

#include "plan/bits.h"

namespace edgewire::plan {

namespace {

Bits to_bits(std::uint32_t size, std::span<const std::uint32_t> indexes) {
  Bits bits(size);
  for (const auto i : indexes) bits.add(i);
  return bits;
}

/// A set of indexes that knows how many of it are below another one.
class RankedSet {
 public:
  RankedSet(std::uint32_t size, std::span<const std::uint32_t> indexes)
      : bits_(to_bits(size, indexes)), before_(bits_.words()) {
    std::uint32_t sum = 0;
    for (std::size_t w = 0; w < before_.size(); ++w) {
      before_[w] = sum;
      sum += static_cast<std::uint32_t>(std::popcount(bits_.word(w)));
    }
  }
  bool has(std::uint32_t index) const noexcept { return bits_.test(index); }
  std::uint32_t below(std::uint32_t index) const noexcept {
    const std::uint64_t lower = bits_.word(index / 64) & ((std::uint64_t{1} << (index % 64)) - 1);
    return before_[index / 64] + static_cast<std::uint32_t>(std::popcount(lower));
  }

 private:
  Bits bits_;
  std::vector<std::uint32_t> before_;  ///< [word]
};

MovedEdges pack_moved(const PairEdges& edges, const PairCover& cover, const OwnVertices& own,
                      std::uint64_t free_edges, std::vector<std::uint32_t>& whole) {
  const RankedSet mirrors(own.count(), cover.mirrors);
  const Bits summed = to_bits(edges.destinations, cover.sums);
  MovedEdges moved(2 * cover.mirrors.size() + cover.moved_edges + free_edges + 1);
  std::uint32_t* next = moved.data();
  for (const auto& part : edges.parts) {
    for (const PairRow& row : part) {
      const std::uint32_t index = own.indexes()[row.source];
      if (!mirrors.has(index)) continue;
      std::uint32_t* end = next + 2;
      for (const auto target : row.span()) {  // no branch depends on the target
        *end = target;
        end += summed.test(target) ? 0 : 1;
      }
      const std::uint64_t free = row.edges - static_cast<std::uint64_t>(end - next - 2);
      if (free > 0 && free <= free_edges) {
        end = std::ranges::copy(row.span(), next + 2).out;
        free_edges -= free;
        whole.push_back(index);
      }
      if (end == next + 2) continue;
      next[0] = mirrors.below(index);
      next[1] = static_cast<std::uint32_t>(end - next - 2);
      next = end;
    }
  }
  moved.resize(static_cast<std::size_t>(next - moved.data()));
  return moved;
}

}  // namespace

PairCovers::PairCovers(const graph::GraphFile& graph, const Ownership& ownership, int rank,
                       const OwnVertices& own, int workers, const ForEach& for_each)
    : own_(&own),
      rows_(std::make_unique<PairRows>(graph, ownership, rank, own.edges(), workers, for_each)),
      covers_(static_cast<std::size_t>(ownership.processes())) {
  for_each(covers_.size(), [&](int, std::uint64_t p) {
    covers_[p] = minimum_cover(rows_->edges(static_cast<std::uint32_t>(p)));
    for (auto& mirror : covers_[p].mirrors) mirror = own.indexes()[mirror];
    covers_[p].mirrors = to_bits(own.count(), covers_[p].mirrors).members();
  });
}

std::vector<MovedEdges> PairCovers::take_moved(std::span<const std::uint64_t> free_edges,
                                               std::vector<std::vector<std::uint32_t>>& whole,
                                               const ForEach& for_each) {
  std::vector<MovedEdges> moved(covers_.size());
  whole.resize(covers_.size());
  for_each(covers_.size(), [&](int, std::uint64_t p) {
    moved[p] =
        pack_moved(rows_->edges(static_cast<std::uint32_t>(p)), covers_[p], *own_, free_edges[p], whole[p]);
  });
  rows_.reset();
  return moved;
}

}  // namespace edgewire::plan
