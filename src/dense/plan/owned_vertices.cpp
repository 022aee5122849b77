#include "dense/plan/owned_vertices.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kIdsAhead = 32;  // number of steps that random reads are prefetched ahead
// Number of vertices that one worker handles at a time, or a multiple of it.
constexpr std::uint64_t kPiece = 1 << 16;
constexpr std::uint64_t kMostPieces = 256;
constexpr std::uint32_t kBuckets = 1 << 12;  // number of degrees that are told apart by counting

struct Pieces {
  std::uint32_t vertices;
  std::uint64_t width = kPiece * (vertices / (kPiece * kMostPieces) + 1);

  std::uint64_t count() const { return (vertices + width - 1) / width; }
  std::uint32_t first(std::uint64_t piece) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(piece * width, vertices));
  }
};

struct Degrees {
  const partition::OwnedRows& rows;

  std::uint64_t operator()(PlainId v) const { return rows.degree(VertexId(v)); }
  /// Returns the bucket of a vertex; the first one has all high degrees.
  std::uint32_t bucket(PlainId v) const {
    return kBuckets - 1 - static_cast<std::uint32_t>(std::min<std::uint64_t>((*this)(v), kBuckets - 1));
  }
};

/// A stable counting sort of vertices by descending degree, piece by piece; the few vertices above the last
/// degree that is counted are sorted by comparison.
class DegreeSort {
 public:
  DegreeSort(const Pieces& pieces, const Degrees& degree)
      : pieces_(pieces), degree_(degree), places_(pieces.count()), ends_(kBuckets) {}
  /// Does step 1, for each piece. `ids` are those of all vertices.
  void count(std::uint64_t piece, std::span<const PlainId> ids) {
    auto& counts = places_[piece];
    counts.resize(kBuckets);
    for (auto i = pieces_.first(piece); i < pieces_.first(piece + 1); ++i) ++counts[degree_.bucket(ids[i])];
  }
  /// Does step 2, once.
  void sum() {
    std::uint32_t next = 0;
    for (std::uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
      for (auto& places : places_) next += std::exchange(places[bucket], next);
      ends_[bucket] = next;
    }
  }
  /// Does step 3, for each piece: it writes its vertices to their final positions, and these positions to
  /// `indexes`, which may be the memory of `ids`.
  void place(std::uint64_t piece, std::span<const PlainId> ids, std::span<std::uint32_t> indexes,
             std::span<PlainId> sorted) {
    for (auto i = pieces_.first(piece); i < pieces_.first(piece + 1); ++i) {
      const PlainId v = ids[i];
      indexes[i] = places_[piece][degree_.bucket(v)]++;
      sorted[indexes[i]] = v;
    }
  }
  /// Does the last step: returns the vertices that are in order now, except among themselves.
  std::span<PlainId> sort_hubs(std::span<PlainId> sorted) const {
    const auto hubs = sorted.first(ends_[0]);
    std::ranges::stable_sort(hubs, std::greater(), degree_);
    return hubs;
  }
  /// Calls work(first, end, degree) for ranges of sorted vertices of equal degree, after the high-degree
  /// vertices. A range does not cross a block.
  template <class Work>
  void for_each_stretch(std::uint32_t block, const Work& work) const {
    for (std::uint32_t bucket = 1; bucket < kBuckets; ++bucket) {
      for (std::uint32_t first = ends_[bucket - 1]; first < ends_[bucket];) {
        const auto end = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(ends_[bucket], (first / block + std::uint64_t{1}) * block));
        work(first, end, kBuckets - 1 - bucket);
        first = end;
      }
    }
  }

 private:
  Pieces pieces_;
  Degrees degree_;
  /// Numbers of vertices, then the place of the next one, [piece][bucket].
  std::vector<std::vector<std::uint32_t>> places_;
  std::vector<std::uint32_t> ends_;  ///< ends, [bucket]
};

/// Takes the ids away, so that there is room for them in another order: where they are as wide as indexes, it
/// puts them there, else `apart`.
template <class Id>
std::span<const Id> make_room(topology::PageVector<Id>& ids, topology::PageVector<std::uint32_t>& indexes,
                              topology::PageVector<Id>& apart) {
  if constexpr (std::is_same_v<Id, std::uint32_t>) {
    std::swap(ids, indexes);
    return indexes;
  } else {
    apart = std::move(ids);
    ids = topology::PageVector<Id>(apart.size());
    return apart;
  }
}

}  // namespace

OwnedVertices::OwnedVertices(const partition::OwnedRows& rows, const partition::Ownership& ownership,
                             int rank, Layout layout, const ForEach& for_each) {
  const auto me = static_cast<std::uint32_t>(rank);
  const Pieces pieces{ownership.count(me)};
  ids_.resize(pieces.vertices);
  indexes_.resize(pieces.vertices);
  edges_before_.resize((pieces.vertices + std::size_t{kRowBlock} - 1) / kRowBlock + 1);
  const Degrees degree{rows};
  DegreeSort sort(pieces, degree);
  for_each(pieces.count(), [&](int, std::uint64_t piece) {
    const std::uint32_t first = pieces.first(piece), last = pieces.first(piece + 1);
    ownership.visit([&](const auto& scheme) {
      for (LocalNumber local(first); local < last; ++local) ids_[local] = scheme.vertex(me, local);
    });
    // Blocks that several processes need are verified by each process.
    for (std::uint32_t local = first; rows.in_file() && local < last;) {
      std::uint32_t end = local + 1;
      while (end < last && ids_[end] - ids_[end - 1] < 4096) ++end;
      rows.verify(ids_[local], std::uint64_t{ids_[end - 1]} + 1);
      local = end;
    }
    if (layout == Layout::degree) return sort.count(piece, ids_);
    for (std::uint32_t local = first; local < last; ++local) {
      indexes_[local] = local;
      edges_before_[local / kRowBlock + 1] += degree(ids_[local]);
    }
  });
  if (layout == Layout::degree) {
    sort.sum();
    topology::PageVector<PlainId> apart;
    const std::span<const PlainId> given = make_room(ids_, indexes_, apart);
    for_each(pieces.count(), [&](int, std::uint64_t piece) { sort.place(piece, given, indexes_, ids_); });
    const auto hubs = sort.sort_hubs(ids_);
    for (std::uint32_t i = 0; i < hubs.size(); ++i) {
      indexes_[ownership.home(VertexId(hubs[i])).local] = i;
      edges_before_[i / kRowBlock + 1] += degree(hubs[i]);
    }
    sort.for_each_stretch(kRowBlock, [&](std::uint32_t first, std::uint32_t end, std::uint64_t edges) {
      edges_before_[first / kRowBlock + 1] += (end - first) * edges;
    });
  }
  std::partial_sum(edges_before_.begin(), edges_before_.end(), edges_before_.begin());
}

bool OwnedVertices::fit(const partition::Ownership& ownership, int rank, const ForEach& for_each) const {
  const auto me = static_cast<std::uint32_t>(rank);
  if (count() != ownership.count(me) || indexes_.size() != count() ||
      edges_before_.size() != (count() + std::size_t{kRowBlock} - 1) / kRowBlock + 1 ||
      !std::ranges::is_sorted(edges_before_))
    return false;
  std::atomic<bool> well{true};  // whether all is well; read when all have ended
  const Pieces pieces{count()};
  for_each(pieces.count(), [&](int, std::uint64_t piece) {
    const std::uint32_t first = pieces.first(piece), last = pieces.first(piece + 1);
    ownership.visit([&](const auto& scheme) {
      bool same = true;
      for (LocalNumber local(first); local < last && same; ++local) {
        if (local + kIdsAhead < last) __builtin_prefetch(&ids_[indexes_[local + kIdsAhead] % count()]);
        same = indexes_[local] < count() && ids_[indexes_[local]] == scheme.vertex(me, local);
      }
      if (!same) well = false;
    });
  });
  return well;
}

}  // namespace edgewire::plan
