// The kernels/check folder checks results, by plain sequential code that shares nothing with the kernels.
// This file has rules of Graph500 and GAP that hold for the right result of any graph and for no other. They
// are checked one edge after another over the mapped file.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "edgewire/graph.h"

namespace edgewire::kernels {

/// The level and the parent of vertices that no path reaches.
inline constexpr std::uint32_t kNoLevel = std::numeric_limits<std::uint32_t>::max();

/// Returns the name of a vertex in messages, such as "vertex 7".
std::string vertex_name(const Graph& graph, VertexId vertex);

// Each check returns "" for a right result. Otherwise it returns a line that names a vertex, as in output,
// and the rule that it breaks. All spans hold a value for each vertex. Throws Error for a damaged graph.

/// Checks levels of a breadth-first search from `source`: for each vertex the fewest edges of a path to it.
/// `parents` is empty or names the vertex before each reached one; the source is its own parent.
std::string check_bfs(const Graph& graph, VertexId source, std::span<const std::uint32_t> levels,
                      std::span<const PlainId> parents = {});

/// Checks the numbers of vertices of each level that a run reports, from that of the source to the last one.
std::string check_level_sizes(std::span<const std::uint32_t> levels, std::span<const std::uint64_t> sizes);

/// The result of a check of distances: a fault, or the difference from the reference.
struct DistanceCheck {
  std::string fault;        ///< "" for a right result, as above
  std::uint64_t edges = 0;  ///< number of edges of the longest path that explains a distance
  double error = 0;         ///< most that a distance differs from the reference, as a part of its value
  double bound = 0;         ///< most that it may differ; docs/sssp.md derives it from `edges`
  /// Number of vertices that may differ by as much as their distance: the check shows nothing for them.
  std::uint64_t unchecked = 0;
  bool conclusive = true;  ///< whether all distances together are above what they may differ by together
};

/// Checks distances from `source` along edges, none of which has a negative weight; infinity or 2^64 - 1
/// where no path leads. They must be equal to additions in their own type, without any tolerance, and within
/// the bound of a sequential search in long double. Whole ones must be equal to one in 128 bits; their edges
/// have whole weights. `unit_weights`: all edges have weight 1. `parents` is as for check_bfs(): the edge
/// from a parent explains the distance. Memory: 32 bytes for each vertex, and 32 for each open way.
DistanceCheck check_sssp(const Graph& graph, VertexId source, std::span<const float> distances,
                         bool unit_weights = false, std::span<const PlainId> parents = {});
DistanceCheck check_sssp(const Graph& graph, VertexId source, std::span<const double> distances,
                         bool unit_weights = false, std::span<const PlainId> parents = {});
DistanceCheck check_sssp(const Graph& graph, VertexId source, std::span<const std::uint64_t> distances,
                         bool unit_weights = false, std::span<const PlainId> parents = {});

/// Checks weakly connected components: a label is the smallest vertex that edges in any direction join.
std::string check_wcc(const Graph& graph, std::span<const PlainId> labels);

/// Checks strongly connected components: the label of a vertex is the smallest vertex to and from which paths
/// lead. Takes at most 36 bytes for each vertex.
std::string check_scc(const Graph& graph, std::span<const PlainId> labels);

/// The part of its value by which a score may differ.
inline constexpr double kScoreTolerance = 1e-9;

/// The rules for scores of betweenness.
struct BcRules {
  /// Whether paths have the least sum of weights, which are above 0; else fewest edges.
  bool weighted = false;
  bool endpoints = false;     ///< whether a path lies on its first and last vertex, too
  bool normalized = false;    ///< whether scores are divided by numbers of pairs, as NetworkX does
  std::uint64_t samples = 0;  ///< number of sources that were drawn; 0: none were
};

/// Checks betweenness centrality, summed over all sources: compared with a plain sequential search from each.
/// Paths are counted in long double, and by their logarithms where that ends (1e4932 with 80 bits). All sums
/// are of numbers that are not negative, so the kernel's roundings change a score by at most 1.2e-16 of its
/// value for each operation of the longest row of operations that leads to it: the tolerance allows 8
/// million, even if all of them round the same way. Memory: 84 bytes for each vertex, 116 where weighted, and
/// 4 for each edge; where weighted, also 32 for each way that a search keeps open.
std::string check_bc(const Graph& graph, std::span<const VertexId> sources, std::span<const double> scores,
                     const BcRules& rules = {});

/// Checks local clustering coefficients: of the edges that could lead from one neighbour of a vertex to
/// another, the share that does. Edges that occur several times count once, self loops do not. `triangles`:
/// the number of triangles of the graph without directions. Takes 4 bytes an edge and 8 a vertex.
std::string check_lcc(const Graph& graph, std::span<const double> coefficients, std::uint64_t triangles);
/// Checks the number of triangles of the graph without directions, and of those at each vertex.
/// `of_vertices`: the latter; or empty. Takes as much memory.
std::string check_triangles(const Graph& graph, std::span<const std::uint64_t> of_vertices,
                            std::uint64_t triangles);

/// Checks label propagation: the labels are found again from the definition, with a table for each vertex.
std::string check_cdlp(const Graph& graph, std::uint64_t iterations, std::span<const PlainId> labels);

}  // namespace edgewire::kernels
