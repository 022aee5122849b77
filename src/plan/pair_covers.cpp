#include "plan/pair_covers.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "plan/fetch_rows.h"
#include "plan/owner_filter.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kGroup = 1 << 14;  // rows that a worker takes at a time
constexpr std::uint32_t kAsked = 64;       // rows that are asked for together

/// What a group of rows adds to a bucket, or what those before it added.
struct Share {
  std::uint64_t rows = 0, edges = 0;
};

/// row(local, targets) for own vertices with local numbers [first, last), in that order.
template <class Row>
void for_each_row(const graph::GraphFile& graph, const Ownership& ownership, std::uint32_t rank,
                  std::uint32_t first, std::uint32_t last, const Row& row) {
  std::array<std::uint32_t, kAsked> vertices, next;
  const auto ask = [&](std::uint32_t from) {
    const std::uint32_t count = std::min(kAsked, last - from);
    ownership.visit([&](const auto& scheme) {
      for (std::uint32_t i = 0; i < count; ++i) next[i] = scheme.vertex(rank, from + i);
    });
    fetch_rows(graph, std::span(next).first(count));
  };
  const auto offsets = graph.offsets();
  ask(first);
  for (std::uint32_t local = first; local < last; ++local) {
    const std::uint32_t i = (local - first) % kAsked;
    if (i == 0) {
      vertices = next;
      ask(std::min(last, local + kAsked));
    }
    const std::uint64_t begin = offsets[vertices[i]];
    row(local, graph.targets().subspan(begin, offsets[vertices[i] + std::size_t{1}] - begin));
  }
}

/// Reads the own edges twice, first to know where each goes: in a second copy of them, fresh memory costs
/// more.
class Splitter {
 public:
  Splitter(const graph::GraphFile& graph, const Ownership& ownership, int rank)
      : graph_(graph),
        ownership_(ownership),
        filter_(ownership),
        rank_(static_cast<std::uint32_t>(rank)),
        rows_(ownership.count(rank_)),
        processes_(static_cast<std::size_t>(ownership.processes())),
        groups_((rows_ + std::size_t{kGroup} - 1) / kGroup),
        shares_(groups_ * processes_) {}

  std::vector<PairRows> operator()(const ForEach& for_each) {
    for_each(groups_, [&](int, std::uint64_t g) { count(g); });
    std::vector<PairRows> buckets(processes_);
    for_each(processes_, [&](int, std::uint64_t p) {
      if (p == rank_) return;
      Share before;
      for (std::size_t g = 0; g < groups_; ++g) {
        const Share share = std::exchange(shares_[g * processes_ + p], before);
        before = {before.rows + share.rows, before.edges + share.edges};
      }
      buckets[p] = PairRows(before.rows, before.edges);
    });
    for_each(groups_, [&](int, std::uint64_t g) { fill(g, buckets); });
    return buckets;
  }

 private:
  std::uint32_t first_row(std::uint64_t group) const {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(rows_, group * kGroup));
  }
  void count(std::uint64_t group) {
    std::vector<std::uint64_t> edges(processes_), seen(processes_), rows(processes_);
    for_each_row(graph_, ownership_, rank_, first_row(group), first_row(group + 1),
                 [&](std::uint32_t, std::span<const std::uint32_t> targets) {
                   filter_.count(targets, edges);
                   for (std::size_t p = 0; p < processes_; ++p) {
                     rows[p] += edges[p] != seen[p] ? 1 : 0;
                     seen[p] = edges[p];
                   }
                 });
    for (std::size_t p = 0; p < processes_; ++p) shares_[group * processes_ + p] = {rows[p], edges[p]};
  }
  void fill(std::uint64_t group, std::vector<PairRows>& buckets) const {
    struct Ends {
      std::uint32_t *targets, *end, *source;
      std::uint64_t* offset;
    };
    std::vector<std::uint32_t*> next(processes_);
    std::vector<Ends> ends(processes_);
    for (std::size_t p = 0; p < processes_; ++p) {
      if (p == rank_) continue;
      const Share& before = shares_[group * processes_ + p];
      auto* const targets = buckets[p].targets.as<std::uint32_t>().data();
      next[p] = targets + before.edges;
      ends[p] = {targets, next[p], buckets[p].sources.as<std::uint32_t>().data() + before.rows,
                 buckets[p].offsets.as<std::uint64_t>().data() + before.rows};
    }
    std::vector<std::uint32_t> inside;  // edges between own vertices, of no use
    for_each_row(graph_, ownership_, rank_, first_row(group), first_row(group + 1),
                 [&](std::uint32_t local, std::span<const std::uint32_t> targets) {
                   if (inside.size() < targets.size()) inside.resize(targets.size());
                   next[rank_] = inside.data();
                   filter_.deal(targets, next);
                   next[rank_] = nullptr;
                   for (std::size_t p = 0; p < processes_; ++p) {
                     Ends& to = ends[p];
                     if (next[p] == to.end) continue;
                     to.end = next[p];
                     *to.source++ = local;
                     *++to.offset = static_cast<std::uint64_t>(to.end - to.targets);
                   }
                 });
  }

  const graph::GraphFile& graph_;
  const Ownership& ownership_;
  OwnerFilter filter_;
  std::uint32_t rank_, rows_;
  std::size_t processes_, groups_;
  std::vector<Share> shares_;  ///< [group * processes + peer]
};

/// A set of indexes that knows how many of it are below another one.
class RankedSet {
 public:
  RankedSet(std::uint32_t size, std::span<const std::uint32_t> indexes)
      : words_(size / 64 + std::size_t{1}), before_(words_.size()) {
    for (const auto i : indexes) words_[i / 64] |= std::uint64_t{1} << (i % 64);
    std::uint32_t sum = 0;
    for (std::size_t w = 0; w < words_.size(); ++w) {
      before_[w] = sum;
      sum += static_cast<std::uint32_t>(std::popcount(words_[w]));
    }
  }
  bool has(std::uint32_t index) const noexcept { return (words_[index / 64] >> (index % 64) & 1) != 0; }
  std::uint32_t below(std::uint32_t index) const noexcept {
    const std::uint64_t lower = words_[index / 64] & ((std::uint64_t{1} << (index % 64)) - 1);
    return before_[index / 64] + static_cast<std::uint32_t>(std::popcount(lower));
  }
  std::vector<std::uint32_t> sorted() const {
    std::vector<std::uint32_t> indexes;
    for (std::uint32_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
        indexes.push_back(w * 64 + static_cast<std::uint32_t>(std::countr_zero(word)));
    return indexes;
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> before_;  ///< [word]
};

}  // namespace

PairRows::PairRows(std::uint64_t rows, std::uint64_t edges)
    : sources(rows * sizeof(std::uint32_t), -1, "the edges to a peer"),
      offsets((rows + 1) * sizeof(std::uint64_t), -1, "the edges to a peer"),
      targets(edges * sizeof(std::uint32_t), -1, "the edges to a peer") {}

PairCovers::PairCovers(const graph::GraphFile& graph, const Ownership& ownership, int rank,
                       const OwnVertices& own, const ForEach& for_each)
    : own_(&own), rows_(Splitter(graph, ownership, rank)(for_each)), covers_(rows_.size()) {
  for (std::uint32_t p = 0; p < rows_.size(); ++p) counts_.push_back(ownership.count(p));
  for_each(rows_.size(), [&](int, std::uint64_t p) {
    covers_[p] = minimum_cover(rows_[p].edges(counts_[p]));
    for (auto& mirror : covers_[p].mirrors) mirror = own.indexes()[mirror];
    covers_[p].mirrors = RankedSet(own.count(), covers_[p].mirrors).sorted();
  });
}

MovedEdges PairCovers::take_moved(std::size_t peer, std::uint64_t free_edges,
                                  std::vector<std::uint32_t>& whole) {
  const PairRows rows = std::exchange(rows_[peer], {});
  const PairEdges edges = rows.edges(counts_[peer]);
  const PairCover& cover = covers_[peer];
  const RankedSet mirrors(own_->count(), cover.mirrors);
  std::vector<bool> summed(edges.destinations);
  for (const auto destination : cover.sums) summed[destination] = true;
  MovedEdges moved(2 * cover.mirrors.size() + cover.moved_edges + free_edges + 1);
  std::uint32_t* next = moved.data();
  for (std::size_t row = 0; row < edges.sources.size(); ++row) {
    const std::uint32_t index = own_->indexes()[edges.sources[row]];
    if (!mirrors.has(index)) continue;
    const auto targets =
        edges.targets.subspan(edges.offsets[row], edges.offsets[row + 1] - edges.offsets[row]);
    std::uint32_t* end = next + 2;
    for (const auto target : targets) {  // no branch depends on the target
      *end = target;
      end += summed[target] ? 0 : 1;
    }
    const std::uint64_t free = targets.size() - static_cast<std::uint64_t>(end - next - 2);
    if (free > 0 && free <= free_edges) {
      end = std::copy(targets.begin(), targets.end(), next + 2);
      free_edges -= free;
      whole.push_back(index);
    }
    if (end == next + 2) continue;
    next[0] = mirrors.below(index);
    next[1] = static_cast<std::uint32_t>(end - next - 2);
    next = end;
  }
  moved.resize(static_cast<std::size_t>(next - moved.data()));
  return moved;
}

}  // namespace edgewire::plan
