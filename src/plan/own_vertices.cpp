#include "plan/own_vertices.h"

#include <algorithm>
#include <atomic>
#include <numeric>

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kAhead = 32;       // random reads are asked for so many turns before
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
  edges_before_.resize((count + std::size_t{kBlock} - 1) / kBlock + 1);
  const auto offsets = graph.offsets();
  for_each(pieces(count), [&](int, std::uint64_t piece) {
    const auto first = static_cast<std::uint32_t>(piece * kPiece);
    const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(first + kPiece, count));
    ownership.visit([&](const auto& scheme) {
      for (std::uint32_t local = first; local < last; ++local) ids_[local] = scheme.vertex(me, local);
    });
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
    ownership.visit([&](const auto& scheme) {
      for (std::uint32_t i = first; i < last; ++i) {
        if (i + kAhead < last) __builtin_prefetch(&offsets[ids_[i + kAhead]]);
        const std::uint32_t v = ids_[i];
        indexes_[scheme.place(v).local] = i;
        edges_before_[i / kBlock + 1] += offsets[v + std::size_t{1}] - offsets[v];
      }
    });
  });
  std::partial_sum(edges_before_.begin(), edges_before_.end(), edges_before_.begin());
}

bool OwnVertices::fit(const Ownership& ownership, int rank, const ForEach& for_each) const {
  const auto me = static_cast<std::uint32_t>(rank);
  if (count() != ownership.count(me) || indexes_.size() != count() ||
      edges_before_.size() != (count() + std::size_t{kBlock} - 1) / kBlock + 1)
    return false;
  std::atomic<bool> well{true};  // read when all have ended
  for_each(pieces(count()), [&](int, std::uint64_t piece) {
    const auto first = static_cast<std::uint32_t>(piece * kPiece);
    const auto last = static_cast<std::uint32_t>(std::min<std::uint64_t>(first + kPiece, count()));
    ownership.visit([&](const auto& scheme) {
      bool same = true;
      for (std::uint32_t local = first; local < last && same; ++local) {
        if (local + kAhead < last) __builtin_prefetch(&ids_[indexes_[local + kAhead] % count()]);
        same = indexes_[local] < count() && ids_[indexes_[local]] == scheme.vertex(me, local);
      }
      if (!same) well = false;
    });
  });
  return well;
}

}  // namespace edgewire::plan
