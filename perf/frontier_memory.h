// This file tells what processes of a kernel that follows a frontier will hold in memory of their own. It is
// counted before a run, or estimated where there is no graph yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "disk/memory_budget.h"
#include "edgewire/graph.h"
#include "partition/ownership.h"

namespace edgewire::perf {

/// What one process has of a graph.
struct ProcessShare {
  std::uint64_t owned = 0;     ///< vertices
  std::uint64_t edges = 0;     ///< edges out of them
  std::uint64_t in_edges = 0;  ///< edges into them
  std::uint64_t boundary = 0;  ///< vertices of others that its edges lead to
  std::uint64_t told = 0;      ///< pairs of an owned vertex and a process that has it in its boundary
  /// The same two where a process knows the sources of edges into its vertices, too.
  std::uint64_t boundary_both = 0, told_both = 0;
};

/// A graph and what each of its processes has of it.
struct GraphShares {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  bool symmetric = false;  ///< every edge is stored both ways
  std::vector<ProcessShare> processes;
};

/// Reads all rows. It takes 8 bytes of memory for each vertex, and unless the graph is symmetric 4 for each
/// process and vertex of others from which an edge leads to it.
GraphShares count_shares(const graph::GraphFile& graph, const partition::Ownership& ownership);

/// Estimates shares without a graph: each of `processes` is given as many vertices and edges, and edges lead
/// to any vertex equally often. Then as many vertices are at a boundary as can be expected, V (1 - (1 - 1 /
/// V)^E) for the E edges to others. Where some vertices have far more edges than others, or neighbours have
/// one owner, there are fewer, so this is an upper estimate. Throws UsageError where a number makes no
/// sense.
GraphShares estimate_shares(std::uint64_t vertices, std::uint64_t edges, bool symmetric, int processes);

/// Returns the anonymous memory of the process that will hold most, in bytes, with one worker in each
/// process. The sum leaves out the mapped graph, buffers of connections, rings, and what only rank 0 has,
/// which gathers results. For scc of directed graphs it leaves out the edges that its first search leaves
/// over: nobody knows beforehand how many there are. `kernel`: one of kFrontierKernels; else throws
/// UsageError.
std::uint64_t frontier_memory(std::string_view kernel, const GraphShares& shares);

/// Returns what a process keeps of a vertex while rows are on disks, for `bfs`, `sssp`, `wcc` and `bc`, with
/// the boundary where there are several processes. Otherwise it is as frontier_memory().
disk::VertexBytes vertex_bytes(std::string_view kernel);

/// Returns such estimates as text for people, ending with a newline.
std::string memory_text(std::string_view kernel, const std::vector<GraphShares>& estimates);
/// Returns {"kernel": ..., "rows": [...]}.
std::string memory_json(std::string_view kernel, const std::vector<GraphShares>& estimates);

}  // namespace edgewire::perf
