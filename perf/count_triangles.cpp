// Counts of lcc. They share no code with the kernel but the order of the vertices, which says where a
// triangle is found.
#include <algorithm>

#include "frontier/oriented_rows.h"
#include "frontier/records.h"
#include "perf/frontier_count.h"

namespace edgewire::perf {

namespace {

/// A triangle is found by the owner of its corner with the largest number. A process sends one record for
/// each vertex of another process that it has found in a triangle, where credits have 32 bits.
class TrianglesCount : public FrontierCount {
 public:
  explicit TrianglesCount(const graph::GraphFile& graph) : graph_(graph) {
    const frontier::OrientedRows rows(graph, [](std::uint64_t count, const auto& work) {
      for (std::uint64_t i = 0; i < count; ++i) work(0, i);
    });
    for (std::uint32_t number = 0; number < rows.vertices(); ++number) {
      const auto row = rows.row(number);
      if (row.size() > 1) ++searched_;
      for (const std::uint32_t other : row)
        if (closes_triangle(rows, row, other))
          found_.emplace_back(rows.vertex_of(number), rows.vertex_of(other));
    }
    std::ranges::sort(found_);
  }
  Exactness exactness(int) const override { return Exactness::exact; }
  std::uint64_t record_bytes() const override { return sizeof(frontier::Record); }

  std::vector<CountedStep> count(const plan::Ownership& ownership) const override {
    const auto processes = static_cast<std::uint32_t>(ownership.processes());
    const RecordLoad nothing(processes);
    // Each process orders all vertices.
    std::vector<CountedStep> steps{
        {"order vertices by degree, keep each edge once", processes * graph_.vertices(), nothing},
        {"intersect rows", searched_, nothing}};
    if (processes == 1) return steps;
    CountedStep credits{"send credits to owners", 0, nothing};
    Names names(graph_, ownership);
    for (std::uint32_t p = 0; p < processes; ++p) {
      for (LocalNumber local{}; local < ownership.count(p); ++local) {
        for (const auto& [finder, v] : found_by(ownership.vertex(p, local))) {
          if (!names.add(p, v)) continue;
          credits.load.add(p, names.owner(v));
          ++credits.frontier;
        }
      }
    }
    steps.push_back(std::move(credits));
    return steps;
  }

 private:
  using Pair = std::pair<VertexId, VertexId>;

  /// Whether an edge leads from `other`, which is in the row, to a vertex of the row.
  static bool closes_triangle(const frontier::OrientedRows& rows, std::span<const std::uint32_t> row,
                              std::uint32_t other) {
    return std::ranges::any_of(row, [&](std::uint32_t third) {
      return third != other &&
             std::ranges::binary_search(rows.row(std::max(third, other)), std::min(third, other));
    });
  }
  std::span<const Pair> found_by(VertexId vertex) const {
    const auto first = std::lower_bound(found_.begin(), found_.end(), Pair{vertex, VertexId{}});
    const auto last = std::upper_bound(first, found_.end(), Pair{vertex, VertexId{UINT32_MAX}});
    return {first, last};
  }

  const graph::GraphFile& graph_;
  std::uint64_t searched_ = 0;  ///< rows with two entries or more
  std::vector<Pair> found_;     ///< (vertex with the largest number of a triangle, another corner), sorted
};

}  // namespace

std::unique_ptr<FrontierCount> count_triangles(const graph::GraphFile& graph) {
  return std::make_unique<TrianglesCount>(graph);
}

}  // namespace edgewire::perf
