#include "plan/own_vertices.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kAhead = 32;       // random reads are asked for so many turns before
constexpr std::uint64_t kPiece = 1 << 16;  // vertices handled at a time by one worker, or a multiple of it
constexpr std::uint64_t kMostPieces = 256;
constexpr std::uint32_t kBuckets = 1 << 12;  // degrees that are told apart by counting

struct Pieces {
  std::uint32_t vertices;
  std::uint64_t width = kPiece * (vertices / (kPiece * kMostPieces) + 1);

  std::uint64_t count() const { return (vertices + width - 1) / width; }
  std::uint32_t first(std::uint64_t piece) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(piece * width, vertices));
  }
};

struct Degrees {
  std::span<const std::uint64_t> offsets;

  std::uint64_t operator()(std::uint32_t v) const { return offsets[v + std::size_t{1}] - offsets[v]; }
  /// The first one is that of all high degrees.
  std::uint32_t bucket(std::uint32_t v) const {
    return kBuckets - 1 - static_cast<std::uint32_t>(std::min<std::uint64_t>((*this)(v), kBuckets - 1));
  }
};

}  // namespace

OwnVertices::OwnVertices(const graph::GraphFile& graph, const Ownership& ownership, int rank, Layout layout,
                         const ForEach& for_each) {
  const auto me = static_cast<std::uint32_t>(rank);
  const Pieces pieces{ownership.count(me)};
  ids_.resize(pieces.vertices);
  indexes_.resize(pieces.vertices);
  edges_before_.resize((pieces.vertices + std::size_t{kBlock} - 1) / kBlock + 1);
  const Degrees degree{graph.offsets()};
  std::vector<std::vector<std::uint32_t>> buckets(layout == Layout::degree ? pieces.count() : 0);
  for_each(pieces.count(), [&](int, std::uint64_t piece) {
    const std::uint32_t first = pieces.first(piece), last = pieces.first(piece + 1);
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
    if (layout == Layout::degree) {
      buckets[piece].resize(kBuckets);
      for (std::uint32_t local = first; local < last; ++local) ++buckets[piece][degree.bucket(ids_[local])];
      return;
    }
    for (std::uint32_t local = first; local < last; ++local) {
      indexes_[local] = local;
      edges_before_[local / kBlock + 1] += degree(ids_[local]);
    }
  });
  if (layout == Layout::degree) {
    // A stable counting sort; the few vertices of the first bucket are then sorted by comparison.
    std::uint32_t next = 0;
    std::vector<std::uint32_t> ends(kBuckets);
    for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
      for (auto& counts : buckets) next += std::exchange(counts[bucket], next);
      ends[bucket] = next;
    }
    std::swap(ids_, indexes_);
    for_each(pieces.count(), [&](int, std::uint64_t piece) {
      for (std::uint32_t local = pieces.first(piece); local < pieces.first(piece + 1); ++local) {
        const std::uint32_t v = indexes_[local];
        indexes_[local] = buckets[piece][degree.bucket(v)]++;
        ids_[indexes_[local]] = v;
      }
    });
    const auto hubs = std::span(ids_).first(ends[0]);
    std::stable_sort(hubs.begin(), hubs.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return degree(a) > degree(b); });
    for (std::uint32_t i = 0; i < hubs.size(); ++i) {
      indexes_[ownership.place(hubs[i]).local] = i;
      edges_before_[i / kBlock + 1] += degree(hubs[i]);
    }
    for (std::uint32_t bucket = 1; bucket < kBuckets; ++bucket) {
      for (std::uint32_t i = ends[bucket - 1]; i < ends[bucket];) {
        const auto end = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(ends[bucket], (i / kBlock + std::uint64_t{1}) * kBlock));
        edges_before_[i / kBlock + 1] += std::uint64_t{end - i} * (kBuckets - 1 - bucket);
        i = end;
      }
    }
  }
  std::partial_sum(edges_before_.begin(), edges_before_.end(), edges_before_.begin());
}

bool OwnVertices::fit(const Ownership& ownership, int rank, const ForEach& for_each) const {
  const auto me = static_cast<std::uint32_t>(rank);
  if (count() != ownership.count(me) || indexes_.size() != count() ||
      edges_before_.size() != (count() + std::size_t{kBlock} - 1) / kBlock + 1)
    return false;
  std::atomic<bool> well{true};  // read when all have ended
  const Pieces pieces{count()};
  for_each(pieces.count(), [&](int, std::uint64_t piece) {
    const std::uint32_t first = pieces.first(piece), last = pieces.first(piece + 1);
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
