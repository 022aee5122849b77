#include "plan/pair_covers.h"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/fetch_rows.h"
#include "plan/owner_filter.h"
#include "topology/memory.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kGroup = 1 << 14;  // rows that a worker takes at a time
constexpr std::uint32_t kAsked = 64;       // rows that are asked for together

/// What a group of rows adds to a bucket, or what those before it added.
struct Share {
  std::uint64_t rows = 0, edges = 0;
};

/// The edges to one peer, by source.
struct Bucket {
  Bucket() = default;
  explicit Bucket(Share all)
      : sources(all.rows * sizeof(std::uint32_t), -1, kWhat),
        offsets((all.rows + 1) * sizeof(std::uint64_t), -1, kWhat),
        targets(all.edges * sizeof(std::uint32_t), -1, kWhat) {}
  PairEdges edges(std::uint32_t destinations) const {
    return {sources.as<std::uint32_t>(), offsets.as<std::uint64_t>(), targets.as<std::uint32_t>(),
            destinations};
  }
  static constexpr const char* kWhat = "the edges to a peer";
  topology::NodeMemory sources, offsets, targets;
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

  std::vector<Bucket> operator()(const ForEach& for_each) {
    for_each(groups_, [&](int, std::uint64_t g) { count(g); });
    std::vector<Bucket> buckets(processes_);
    for_each(processes_, [&](int, std::uint64_t p) {
      if (p == rank_) return;
      Share before;
      for (std::size_t g = 0; g < groups_; ++g) {
        const Share share = std::exchange(shares_[g * processes_ + p], before);
        before = {before.rows + share.rows, before.edges + share.edges};
      }
      buckets[p] = Bucket(before);
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
  void fill(std::uint64_t group, std::vector<Bucket>& buckets) const {
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

}  // namespace

std::vector<PairCover> cover_pairs(const graph::GraphFile& graph, const Ownership& ownership, int rank,
                                   const OwnVertices& own, const ForEach& for_each) {
  auto edges = Splitter(graph, ownership, rank)(for_each);
  std::vector<PairCover> covers(edges.size());
  for_each(edges.size(), [&](int, std::uint64_t p) {
    covers[p] = minimum_cover(edges[p].edges(ownership.count(static_cast<std::uint32_t>(p))));
    edges[p] = {};
    std::vector<bool> mirrored(own.count());
    for (const auto mirror : covers[p].mirrors) mirrored[own.indexes()[mirror]] = true;
    covers[p].mirrors.clear();
    for (std::uint32_t i = 0; i < own.count(); ++i)
      if (mirrored[i]) covers[p].mirrors.push_back(i);
  });
  return covers;
}

}  // namespace edgewire::plan
