#include "partition/row_shares.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/search.h"

namespace edgewire::partition {

namespace {

/// Returns the first vertex of [first, last] for which reached(offset, vertex) holds; else last + 1.
template <class Reached>
std::uint64_t find_vertex(const Graph& graph, const graph::RowRange& rows, const Reached& reached) {
  return first_of(rows.first, rows.last + 1, [&](std::uint64_t v) {
    graph.verify_offsets(v, v);
    return reached(graph.offsets()[v], v);
  });
}

/// The costs of reading rows, in edges and vertices.
class Costs {
 public:
  Costs(const Graph& graph, const graph::RowRange& rows) : graph_(graph), rows_(rows) {
    for (const std::uint64_t v : {rows.first, rows.last}) graph.verify_offsets(v, v);
    begin_ = before(rows.first, graph.offsets()[rows.first]);
    all_ = before(rows.last, graph.offsets()[rows.last]) - begin_;
  }
  std::uint64_t all() const noexcept { return all_; }
  /// Returns the first row with this cost before it.
  std::uint64_t row_at(std::uint64_t cost) const {
    return std::min(rows_.last, find_vertex(graph_, rows_, [&](std::uint64_t offset, std::uint64_t v) {
                      return before(v, offset) - begin_ >= cost;
                    }));
  }

 private:
  static std::uint64_t before(std::uint64_t v, std::uint64_t offset) noexcept { return offset + v; }

  const Graph& graph_;
  graph::RowRange rows_;
  std::uint64_t begin_ = 0, all_ = 0;
};

void add(RowRanges& ranges, std::uint64_t first, std::uint64_t last) {
  if (first >= last) return;
  if (!ranges.empty() && ranges.back().last == first)
    ranges.back().last = last;
  else
    ranges.push_back({first, last});
}

bool hold(std::span<const graph::RowRange> ranges, std::uint64_t first, std::uint64_t last) {
  return std::ranges::any_of(
      ranges, [=](const graph::RowRange& one) { return one.first <= first && last <= one.last; });
}

}  // namespace

bool are_all(std::span<const graph::RowRange> ranges, std::uint64_t vertices) {
  std::uint64_t next = 0;
  for (const auto& one : ranges)
    if (one.first <= next) next = std::max(next, one.last);
  return next >= vertices;
}

bool hold_owned(std::span<const graph::RowRange> ranges, const Ownership& ownership, std::uint32_t rank) {
  std::uint32_t held = 0;
  for (const auto& one : ranges)
    held += ownership.count_below(rank, one.last) - ownership.count_below(rank, one.first);
  return held == ownership.count(rank);
}

graph::RowRange span_of_owned(const Ownership& ownership, std::uint32_t rank) {
  const std::uint32_t count = ownership.count(rank);
  if (count == 0) return {0, 0};
  return {ownership.vertex(rank, LocalNumber{}),
          std::uint64_t{ownership.vertex(rank, LocalNumber(count - 1))} + 1};
}

std::uint64_t first_from(const Graph& graph, const graph::RowRange& rows, std::uint64_t edge) {
  return find_vertex(graph, rows, [edge](std::uint64_t offset, std::uint64_t) { return offset >= edge; });
}

RowRanges rows_to_read(const Graph& graph, std::span<const RowRanges> here, std::uint32_t rank) {
  std::vector<std::uint64_t> borders{0, graph.vertices()};
  for (const auto& ranges : here)
    for (const auto& one : ranges) borders.insert(borders.end(), {one.first, one.last});
  std::ranges::sort(borders);
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  RowRanges mine;
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    const std::uint64_t first = borders[i], last = borders[i + 1];
    std::uint64_t readers = 0, before = 0;
    for (std::uint32_t p = 0; p < here.size(); ++p) {
      if (!hold(here[p], first, last)) continue;
      ++readers;
      if (p < rank) ++before;
    }
    if (readers == 0)
      throw Error(
          fmt::format("{}: no process can read rows {} to {}: all parts of the graph must lie on "
                      "hosts of this job",
                      graph.path(), first, last - 1));
    if (!hold(here[rank], first, last)) continue;
    const Costs costs(graph, {first, last});
    const auto bound = [&](std::uint64_t part) {
      return part == readers ? last : costs.row_at(share(costs.all(), part, readers));
    };
    add(mine, before == 0 ? first : bound(before), bound(before + 1));
  }
  return mine;
}

std::vector<RowRanges> cut_rows(const Graph& graph, std::span<const graph::RowRange> rows,
                                std::size_t parts) {
  std::vector<Costs> costs;
  std::uint64_t all = 0;
  for (const auto& one : rows) all += costs.emplace_back(graph, one).all();
  std::vector<RowRanges> cut(parts);
  std::uint64_t before = 0;  // cost of earlier ranges
  std::size_t part = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint64_t first = rows[i].first;
    for (; part + 1 < parts && share(all, part + 1, parts) < before + costs[i].all(); ++part) {
      const std::uint64_t end = costs[i].row_at(share(all, part + 1, parts) - before);
      add(cut[part], first, end);
      first = std::max(first, end);
    }
    add(cut[part], first, rows[i].last);
    before += costs[i].all();
  }
  return cut;
}

}  // namespace edgewire::partition
