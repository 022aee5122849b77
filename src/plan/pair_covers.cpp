#include "plan/pair_covers.h"

#include <algorithm>

#include "topology/page_vector.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kGroup = 1 << 12;  // rows that a worker takes at a time

/// The edges to one peer, by source.
struct Bucket {
  std::vector<std::uint32_t> sources;
  std::vector<std::uint64_t> offsets;
  topology::PageVector<std::uint32_t> targets;
};

/// What a group of rows adds to each bucket.
struct Group {
  std::vector<std::vector<std::uint32_t>> sources, ends,
      targets;  ///< [peer]; ends count from the group's start
};

/// Reads the rows of a group once. Every target goes to the end of its owner's list: no branch depends on it.
Group split(const graph::GraphFile& graph, const Ownership& ownership, std::uint32_t rank,
            std::uint32_t first, std::uint32_t last, std::vector<std::vector<std::uint32_t>>& scratch) {
  const auto processes = static_cast<std::uint32_t>(ownership.processes());
  const auto offsets = graph.offsets();
  const std::uint32_t* const targets = graph.targets().data();
  Group group;
  for (auto* lists : {&group.sources, &group.ends, &group.targets}) lists->resize(processes);
  ownership.visit([&](const auto& scheme) {
    std::uint64_t edges = 0;
    for (std::uint32_t local = first; local < last; ++local) {
      const std::uint32_t v = scheme.vertex(rank, local);
      edges += offsets[v + std::size_t{1}] - offsets[v];
    }
    scratch.resize(processes);
    std::vector<std::uint32_t*> next(processes);
    std::vector<std::uint32_t> seen(processes);
    for (std::uint32_t p = 0; p < processes; ++p) {
      if (scratch[p].size() < edges) scratch[p].resize(edges);
      next[p] = scratch[p].data();
    }
    for (std::uint32_t local = first; local < last; ++local) {
      const std::uint32_t v = scheme.vertex(rank, local);
      const std::uint32_t* const end = targets + offsets[v + std::size_t{1}];
      if (targets + offsets[v] == end) continue;
      for (const auto* t = targets + offsets[v]; t != end; ++t) {
        const Place place = scheme.place(*t);
        *next[place.owner]++ = place.local;
      }
      for (std::uint32_t p = 0; p < processes; ++p) {
        const auto count = static_cast<std::uint32_t>(next[p] - scratch[p].data());
        if (p == rank || count == seen[p]) continue;
        seen[p] = count;
        group.sources[p].push_back(local);
        group.ends[p].push_back(count);
      }
    }
    for (std::uint32_t p = 0; p < processes; ++p)
      group.targets[p].assign(scratch[p].data(), scratch[p].data() + seen[p]);
  });
  return group;
}

std::vector<Bucket> fill_buckets(const graph::GraphFile& graph, const Ownership& ownership, int rank,
                                 std::uint32_t count, const ForEach& for_each) {
  std::vector<Group> groups((count + std::size_t{kGroup} - 1) / kGroup);
  for_each(groups.size(), [&](int, std::uint64_t g) {
    thread_local std::vector<std::vector<std::uint32_t>> scratch;
    const auto first = static_cast<std::uint32_t>(g * kGroup);
    groups[g] = split(
        graph, ownership, static_cast<std::uint32_t>(rank), first,
        static_cast<std::uint32_t>(std::min<std::uint64_t>(first + std::uint64_t{kGroup}, count)), scratch);
  });
  std::vector<Bucket> buckets(static_cast<std::size_t>(ownership.processes()));
  for_each(buckets.size(), [&](int, std::uint64_t p) {
    Bucket& bucket = buckets[p];
    std::uint64_t edges = 0;
    for (const Group& group : groups) edges += group.targets[p].size();
    bucket.targets.reserve(edges);
    bucket.offsets.push_back(0);
    for (Group& group : groups) {
      for (const auto end : group.ends[p]) bucket.offsets.push_back(bucket.targets.size() + end);
      bucket.targets.insert(bucket.targets.end(), group.targets[p].begin(), group.targets[p].end());
      bucket.sources.insert(bucket.sources.end(), group.sources[p].begin(), group.sources[p].end());
      group.targets[p] = {};
    }
  });
  return buckets;
}

}  // namespace

std::vector<PairCover> cover_pairs(const graph::GraphFile& graph, const Ownership& ownership, int rank,
                                   const OwnVertices& own, const ForEach& for_each) {
  auto edges = fill_buckets(graph, ownership, rank, own.count(), for_each);
  std::vector<PairCover> covers(edges.size());
  for_each(edges.size(), [&](int, std::uint64_t p) {
    const Bucket& bucket = edges[p];
    covers[p] = minimum_cover(
        {bucket.sources, bucket.offsets, bucket.targets, ownership.count(static_cast<std::uint32_t>(p))});
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
