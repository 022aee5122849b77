#include "plan/pair_rows.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "plan/fetch_rows.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kGroup = 1 << 12;  // rows that a worker takes at a time: they stay in its L2 cache
constexpr std::uint32_t kAsked = 64;       // rows that are asked for together

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

}  // namespace

PairRows::PairRows(const graph::GraphFile& graph, const Ownership& ownership, int rank,
                   std::uint64_t own_edges, const ForEach& for_each)
    : graph_(graph),
      ownership_(ownership),
      filter_(ownership),
      rank_(static_cast<std::uint32_t>(rank)),
      rows_(ownership.count(rank_)),
      processes_(static_cast<std::size_t>(ownership.processes())),
      groups_((rows_ + std::size_t{kGroup} - 1) / kGroup),
      targets_(own_edges * sizeof(std::uint32_t), -1, "the edges to the peers"),
      parts_(groups_ * processes_) {
  for_each(groups_, [&](int, std::uint64_t group) { split(group); });
}

PairEdges PairRows::edges(std::uint32_t peer) const {
  PairEdges edges{{}, rows_, ownership_.count(peer)};
  for (std::size_t g = 0; g < groups_; ++g) edges.parts.push_back(parts_[g * processes_ + peer]);
  return edges;
}

void PairRows::split(std::uint64_t group) {
  const auto first = static_cast<std::uint32_t>(group * kGroup);
  const std::uint32_t last = std::min(rows_, first + kGroup);
  std::vector<std::uint64_t> edges(processes_);
  for_each_row(graph_, ownership_, rank_, first, last,
               [&](std::uint32_t, std::span<const std::uint32_t> row) { filter_.count(row, edges); });
  std::vector<std::uint32_t> inside(std::exchange(edges[rank_], 0));  // of no use
  // Relaxed: workers only need places of their own.
  std::uint32_t* place = targets_.as<std::uint32_t>().data() +
                         used_.fetch_add(std::accumulate(edges.begin(), edges.end(), std::uint64_t{0}),
                                         std::memory_order_relaxed);
  std::vector<std::uint32_t*> next(processes_);
  for (std::size_t p = 0; p < processes_; ++p) {
    next[p] = place;
    place += edges[p];
    parts_[group * processes_ + p].reserve(std::min<std::uint64_t>(edges[p], last - first));
  }
  next[rank_] = inside.data();
  auto ends = next;
  for_each_row(graph_, ownership_, rank_, first, last,
               [&](std::uint32_t local, std::span<const std::uint32_t> row) {
                 filter_.deal(row, next);
                 for (std::size_t p = 0; p < processes_; ++p) {
                   if (next[p] == ends[p] || p == rank_) continue;
                   const auto count = static_cast<std::uint32_t>(next[p] - ends[p]);
                   parts_[group * processes_ + p].push_back({ends[p], count, local});
                   ends[p] = next[p];
                 }
               });
}

}  // namespace edgewire::plan
