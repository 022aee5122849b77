#include "plan/pair_covers.h"

#include <algorithm>

#include "plan/remote_edges.h"
#include "topology/page_vector.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kGroup = 1 << 14;  // rows that a worker takes at a time

/// The edges to one peer, filled group by group at the places that counting gave.
struct Bucket {
  std::vector<std::uint32_t> sources;
  std::vector<std::uint64_t> offsets;
  topology::PageVector<std::uint32_t> targets;
  std::vector<std::uint64_t> rows_before, edges_before;  ///< [group]
};

class Buckets {
 public:
  Buckets(const graph::GraphFile& graph, const Ownership& ownership, int rank, const OwnVertices& own)
      : graph_(graph),
        ownership_(ownership),
        rank_(static_cast<std::uint32_t>(rank)),
        own_(own),
        groups_((own.count() + std::size_t{kGroup} - 1) / kGroup),
        buckets_(static_cast<std::size_t>(ownership.processes())) {}

  std::vector<Bucket>& fill(const ForEach& for_each) {
    for (auto& bucket : buckets_) {
      bucket.rows_before.resize(groups_ + 1);
      bucket.edges_before.resize(groups_ + 1);
    }
    for_each(groups_, [this](int, std::uint64_t group) { count(group); });
    for (auto& bucket : buckets_) {
      for (std::size_t g = 0; g < groups_; ++g) {
        bucket.rows_before[g + 1] += bucket.rows_before[g];
        bucket.edges_before[g + 1] += bucket.edges_before[g];
      }
      bucket.sources.resize(bucket.rows_before.back());
      bucket.offsets.resize(bucket.rows_before.back() + 1);
      bucket.targets.resize(bucket.edges_before.back());
    }
    for_each(groups_, [this](int, std::uint64_t group) { place(group); });
    return buckets_;
  }

 private:
  template <class Edge>
  void visit(std::uint64_t group, const Edge& edge) const {
    const std::uint64_t last = std::min<std::uint64_t>((group + 1) * kGroup, own_.count());
    visit_remote_edges(graph_, ownership_, rank_, static_cast<std::uint32_t>(group * kGroup),
                       static_cast<std::uint32_t>(last), edge);
  }

  void count(std::uint64_t group) {
    std::vector<std::uint32_t> last_row(buckets_.size(), ~std::uint32_t{0});
    std::vector<std::uint64_t> rows(buckets_.size()), edges(buckets_.size());
    visit(group, [&](std::uint32_t row, Place place) {
      ++edges[place.owner];
      rows[place.owner] += last_row[place.owner] != row ? 1 : 0;
      last_row[place.owner] = row;
    });
    for (std::size_t p = 0; p < buckets_.size(); ++p) {
      buckets_[p].rows_before[group + 1] = rows[p];
      buckets_[p].edges_before[group + 1] = edges[p];
    }
  }

  void place(std::uint64_t group) {
    std::vector<std::uint32_t> last_row(buckets_.size(), ~std::uint32_t{0});
    std::vector<std::uint64_t> rows, edges;
    for (const auto& bucket : buckets_) {
      rows.push_back(bucket.rows_before[group]);
      edges.push_back(bucket.edges_before[group]);
    }
    visit(group, [&](std::uint32_t row, Place place) {
      Bucket& bucket = buckets_[place.owner];
      bucket.targets[edges[place.owner]++] = place.local;
      if (last_row[place.owner] != row) bucket.sources[rows[place.owner]++] = row;
      last_row[place.owner] = row;
      bucket.offsets[rows[place.owner]] = edges[place.owner];
    });
  }

  const graph::GraphFile& graph_;
  const Ownership& ownership_;
  std::uint32_t rank_;
  const OwnVertices& own_;
  std::size_t groups_;
  std::vector<Bucket> buckets_;
};

}  // namespace

std::vector<PairCover> cover_pairs(const graph::GraphFile& graph, const Ownership& ownership, int rank,
                                   const OwnVertices& own, const ForEach& for_each) {
  Buckets buckets(graph, ownership, rank, own);
  auto& edges = buckets.fill(for_each);
  std::vector<PairCover> covers(edges.size());
  for_each(edges.size(), [&](int, std::uint64_t p) {
    const Bucket& bucket = edges[p];
    covers[p] = minimum_cover(
        {bucket.sources, bucket.offsets, bucket.targets, ownership.count(static_cast<std::uint32_t>(p))});
    edges[p] = {};
    for (auto& mirror : covers[p].mirrors) mirror = own.indexes()[mirror];
    std::sort(covers[p].mirrors.begin(), covers[p].mirrors.end());
  });
  return covers;
}

}  // namespace edgewire::plan
