#include "plan/own_vertices.h"

#include <algorithm>
#include <numeric>

namespace edgewire::plan {

namespace {

constexpr std::uint64_t kPiece = 1 << 16;  // vertices handled at a time by one worker

std::uint64_t pieces(std::uint64_t count) { return (count + kPiece - 1) / kPiece; }

/// Stable counting sort by descending degree; the few vertices above the last bucket are sorted by
/// comparison.
topology::PageVector<std::uint32_t> by_degree(std::span<const std::uint32_t> ids,
                                              std::span<const std::uint64_t> offsets) {
  constexpr std::uint64_t kBuckets = 1 << 12;
  const auto degree = [&](std::uint32_t v) { return offsets[v + 1] - offsets[v]; };
  const auto bucket = [&](std::uint32_t v) { return kBuckets - 1 - std::min(degree(v), kBuckets - 1); };
  std::vector<std::uint32_t> starts(kBuckets + 1);
  for (const auto v : ids) ++starts[bucket(v) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  const std::uint32_t hubs = starts[1];
  topology::PageVector<std::uint32_t> sorted(ids.size());
  for (const auto v : ids) sorted[starts[bucket(v)]++] = v;
  std::stable_sort(sorted.begin(), sorted.begin() + hubs,
                   [&](std::uint32_t a, std::uint32_t b) { return degree(a) > degree(b); });
  return sorted;
}

}  // namespace

OwnVertices::OwnVertices(const graph::GraphFile& graph, const Ownership& ownership, int rank, Layout layout,
                         const ForEach& for_each) {
  const auto me = static_cast<std::uint32_t>(rank);
  const std::uint32_t count = ownership.count(me);
  ids_.resize(count);
  indexes_.resize(count);
  for_each(pieces(count), [&](int, std::uint64_t piece) {
    const auto first = static_cast<std::uint32_t>(piece * kPiece);
    const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(first + kPiece, count));
    for (std::uint32_t local = first; local < last; ++local) ids_[local] = ownership.vertex(me, local);
    // Blocks that several processes need are verified by each of them.
    for (std::uint32_t local = first; local < last;) {
      std::uint32_t end = local + 1;
      while (end < last && ids_[end] - ids_[end - 1] < 4096) ++end;
      graph.verify_rows(ids_[local], std::uint64_t{ids_[end - 1]} + 1);
      local = end;
    }
  });
  if (layout == Layout::degree) ids_ = by_degree(ids_, graph.offsets());
  for_each(pieces(count), [&](int, std::uint64_t piece) {
    const auto first = static_cast<std::uint32_t>(piece * kPiece);
    const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(first + kPiece, count));
    for (std::uint32_t i = first; i < last; ++i) indexes_[ownership.place(ids_[i]).local] = i;
  });
  for (const auto v : ids_) edges_ += graph.offsets()[v + 1] - graph.offsets()[v];
}

}  // namespace edgewire::plan
