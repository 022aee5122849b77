// A plain breadth-first search, one vertex after the other. The counts of `bound` and the reference of `bc
// --verify` begin with it; it shares nothing with the kernel in kernels/bfs/bfs.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewire/graph.h"

namespace edgewire::kernels {

/// The vertices that a source reaches, level by level: a level is the fewest edges of a path from the source.
struct Levels {
  std::vector<std::uint32_t> level;  ///< levels, [vertex]; kUnreached
  std::vector<VertexId> reached;     ///< vertices in the order of their levels
  std::vector<std::size_t> ends;     ///< ends of the levels in `reached`, [level]
  std::vector<std::uint64_t> edges;  ///< number of edges out of a level's vertices, [level]

  static constexpr std::uint32_t kUnreached = 0xffffffff;
  std::size_t count() const noexcept { return ends.size(); }
  std::span<const VertexId> of(std::size_t l) const noexcept {
    const std::size_t first = l == 0 ? 0 : ends[l - 1];
    return std::span(reached).subspan(first, ends[l] - first);
  }
};

/// Searches from `source`, a vertex of the graph.
Levels plain_breadth_first(const Graph& graph, VertexId source);

}  // namespace edgewire::kernels
