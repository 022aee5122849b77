// The perf/bench folder has programs that measure machines, loops, rings, links and tasks. They are no part
// of libedgewire. This file has graphs in memory for them: made from a seed, quick to make, in the shapes
// that kernels meet; or from a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace edgewire::perf {

/// Out-edges of v: targets[offsets[v]..offsets[v + 1]).
struct PlainGraph {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> targets;
  std::uint32_t vertices() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
};

/// A graph of 2^scale vertices and about 16 edges a vertex. Shapes: "kronecker" (R-MAT with Graph500's
/// parameters, ids permuted), "uniform", "grid" (4 edges a vertex, row by row), "web" (links to near ids,
/// which are often shared, and to popular pages; in crawl order).
PlainGraph make_graph(const std::string& shape, int scale);

/// The graph of an .ew file. Throws Error with path and byte offset.
PlainGraph read_graph(const std::string& path);

/// The same graph with vertices renumbered by falling degree (in and out).
PlainGraph order_by_degree(const PlainGraph& graph);

}  // namespace edgewire::perf
