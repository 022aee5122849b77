// Is a result right? Rules of Graph500 and GAP that hold for the right result of any graph and for no other,
// checked one edge after another over the mapped file. Nothing here is shared with the kernels.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "graph/graph_file.h"

namespace edgewire::kernels {

/// The level and the parent of vertices that no path reaches.
inline constexpr std::uint32_t kNoLevel = std::numeric_limits<std::uint32_t>::max();

// Each check returns "" for a right result. Otherwise it returns a line that names a vertex, by the name that
// it has in output, and the rule that it breaks. All spans hold a value for each vertex. Throws Error when
// the graph file is damaged.

/// Levels of a breadth-first search from `source`: for each vertex the fewest edges of a path to it.
/// `parents` is empty or names for each reached vertex the one before it on such a path; the source is its
/// own parent.
std::string check_bfs(const graph::GraphFile& graph, std::uint32_t source,
                      std::span<const std::uint32_t> levels, std::span<const std::uint32_t> parents = {});

/// How much of its value a distance may differ from that of its neighbour plus the weight between them: some
/// roundings to float. Along a path of k edges the error is at most k times as much.
inline constexpr double kDistanceTolerance = 0x1p-22;

/// Distances from `source` along edges, none of which has a negative weight; infinity where no path leads.
/// `unit_weights`: all edges have weight 1.
std::string check_sssp(const graph::GraphFile& graph, std::uint32_t source, std::span<const float> distances,
                       bool unit_weights = false);

/// Weakly connected components: the label of a vertex is the smallest vertex that edges in any direction
/// join to it.
std::string check_wcc(const graph::GraphFile& graph, std::span<const std::uint32_t> labels);

/// How much of its value a score may differ.
inline constexpr double kScoreTolerance = 1e-9;

/// Betweenness centrality, summed over all sources: compared with a plain sequential search from each.
/// Memory: 40 bytes for each vertex and 4 for each edge.
std::string check_bc(const graph::GraphFile& graph, std::span<const std::uint32_t> sources,
                     std::span<const double> scores);

/// Local clustering coefficients: of the edges that could lead from one neighbour of a vertex to another, the
/// share that does. Edges that occur several times count once, self loops do not. `triangles`: of the graph
/// without directions. Takes 4 bytes for each edge and 8 for each vertex.
std::string check_lcc(const graph::GraphFile& graph, std::span<const double> coefficients,
                      std::uint64_t triangles);

/// Label propagation: the labels are found again from the definition, with a table for each vertex.
std::string check_cdlp(const graph::GraphFile& graph, std::uint64_t iterations,
                       std::span<const std::uint32_t> labels);

}  // namespace edgewire::kernels
