#include "dense/plan/pair_rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "dense/plan/fetch_rows.h"

namespace edgewire::plan {

namespace {

constexpr std::uint32_t kGroupRows = 1 << 16;  // of all peers: a worker's group stays in its L2 cache
constexpr std::uint64_t kLeastChunk = 1 << 10, kMostChunk = 1 << 18;  // edges
constexpr std::uint32_t kAsked = 64;                                  // rows that are prefetched together

/// row(local, targets) for owned vertices with local numbers [first, last), in that order.
template <class Row>
void for_each_row(const partition::OwnedRows& rows, const partition::Ownership& ownership, std::uint32_t rank,
                  std::uint32_t first, std::uint32_t last, const Row& row) {
  std::array<VertexId, kAsked> vertices, next;
  const auto ask = [&](std::uint32_t from) {
    const std::uint32_t count = std::min(kAsked, last - from);
    ownership.visit([&](const auto& scheme) {
      for (std::uint32_t i = 0; i < count; ++i) next[i] = scheme.vertex(rank, LocalNumber(from + i));
    });
    fetch_rows(rows, std::span(next).first(count));
  };
  ask(first);
  for (LocalNumber local(first); local < last; ++local) {
    const std::uint32_t i = (local - first) % kAsked;
    if (i == 0) {
      vertices = next;
      ask(std::min<std::uint32_t>(last, local + kAsked));
    }
    row(local, rows.row(vertices[i]));
  }
}

}  // namespace

PairRows::PairRows(partition::OwnedRows rows, const partition::Ownership& ownership, int rank,
                   std::uint64_t owned_edges, int workers, const ForEach& for_each)
    : owned_(std::move(rows)),
      ownership_(ownership),
      filter_(ownership),
      rank_(static_cast<std::uint32_t>(rank)),
      rows_(ownership.count(rank_)),
      processes_(static_cast<std::size_t>(ownership.processes())),
      group_(std::max(kAsked, kGroupRows / static_cast<std::uint32_t>(processes_))),
      groups_((rows_ + std::size_t{group_} - 1) / group_),
      workers_(static_cast<std::size_t>(workers)),
      chunk_(std::clamp<std::uint64_t>(owned_edges / (8 * workers_.size() * processes_), kLeastChunk,
                                       kMostChunk)),
      targets_((owned_edges + owned_edges / 7 + workers_.size() * processes_ * chunk_) * sizeof(LocalNumber),
               -1, "the edges to the peers"),
      parts_(groups_ * processes_) {
  for (Worker& worker : workers_) {
    worker.next.resize(processes_);
    worker.end.resize(processes_);
    worker.rows.resize(processes_ * group_);
  }
  for_each(groups_, [&](int worker, std::uint64_t group) {
    split(workers_[static_cast<std::size_t>(worker)], group);
  });
}

PairEdges PairRows::edges(std::uint32_t peer) const {
  PairEdges edges{{}, rows_, ownership_.count(peer)};
  for (std::size_t g = 0; g < groups_; ++g) edges.parts.push_back(parts_[g * processes_ + peer]);
  return edges;
}

LocalNumber* PairRows::take(std::uint64_t edges) noexcept {
  // Relaxed: workers only need different places.
  return targets_.as<LocalNumber>().data() + used_.fetch_add(edges, std::memory_order_relaxed);
}

/// A chunk of each worker and peer gets its rows until one might not fit: no row is longer than an eighth of
/// it, so that an eighth is wasted at most. Longer rows are counted first.
void PairRows::split(Worker& worker, std::uint64_t group) {
  const auto first = static_cast<std::uint32_t>(group * group_);
  const std::uint32_t last = std::min(rows_, first + group_);
  std::vector<LocalNumber*> begins(processes_), apart(processes_);
  std::vector<std::uint64_t> counts(processes_);
  std::vector<std::uint32_t> used(processes_);
  for_each_row(owned_, ownership_, rank_, first, last, [&](LocalNumber local, std::span<const VertexId> row) {
    const bool is_long = row.size() > chunk_ / 8;
    if (is_long) {
      std::fill(counts.begin(), counts.end(), 0);
      filter_.count(row, counts);
    }
    if (worker.inside.size() < row.size()) worker.inside.resize(row.size());
    worker.next[rank_] = worker.inside.data();
    worker.end[rank_] = worker.inside.data() + worker.inside.size();
    for (std::size_t p = 0; p < processes_; ++p) {
      if (is_long && p != rank_) {
        apart[p] = take(counts[p]);
      } else if (static_cast<std::uint64_t>(worker.end[p] - worker.next[p]) < row.size()) {
        worker.next[p] = take(chunk_);
        worker.end[p] = worker.next[p] + chunk_;
      }
    }
    auto& next = is_long ? apart : worker.next;
    if (is_long) apart[rank_] = worker.inside.data();
    std::ranges::copy(next, begins.begin());
    filter_.deal(row, next);
    next[rank_] = begins[rank_];
    for (std::size_t p = 0; p < processes_; ++p) {  // no branch depends on whether there is an edge
      const auto edges = static_cast<std::uint32_t>(next[p] - begins[p]);
      worker.rows[p * group_ + used[p]] = {begins[p], edges, local};
      used[p] += edges > 0 ? 1 : 0;
    }
  });
  for (std::size_t p = 0; p < processes_; ++p) {
    const auto rows = std::span(worker.rows).subspan(p * group_, used[p]);
    parts_[group * processes_ + p].assign(rows.begin(), rows.end());
  }
}

}  // namespace edgewire::plan
