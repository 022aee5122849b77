// This file has the memory of its own that a process will take. For a kernel that follows a frontier it is
// counted before a run, or estimated where there is no graph yet; for a dense kernel it is estimated.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dense/plan/volume.h"
#include "edgewire/graph.h"
#include "kernels/descriptor.h"
#include "partition/ownership.h"

namespace edgewire::bounds {

/// The share of one process in a job: its part of the graph, and the values that it exchanges.
struct DenseShare {
  int processes = 1;
  plan::Strategy strategy = plan::Strategy::slots;
  bool edges_owned = false;        ///< whether processes own blocks of edges (ownership hilbert, grid)
  std::uint64_t vertices = 0;      ///< number of owned vertices
  std::uint64_t edges = 0;         ///< number of computed edges
  std::uint64_t leaving = 0;       ///< number of edges from its vertices to those of others
  std::uint64_t values = 0;        ///< number of values that are sent in an iteration
  std::uint64_t value_bytes = 4;   ///< bytes of a value in memory
  std::uint64_t weight_bytes = 0;  ///< bytes of a weight for each edge in tiles
};

/// Returns the most anonymous memory that the process has until its job ends, in bytes, with one worker:
/// while it plans, while it builds tiles or while it iterates. The sum leaves out the mapped graph, buffers
/// of connections, the shared memory of inboxes, and the values that rank 0 gathers. The bytes of an edge in
/// a tile depend on the graph, so this is an estimate: its constants are of Kronecker graphs and a web crawl.
std::uint64_t dense_memory(const DenseShare& share);

using kernels::GraphShares, kernels::ProcessShare;

/// Counts the shares; reads all rows. It takes 8 bytes of memory for each vertex, and unless the graph is
/// symmetric 4 for each process and vertex of others from which an edge leads to it.
GraphShares count_shares(const Graph& graph, const partition::Ownership& ownership);

/// Estimates shares without a graph: each of `processes` gets equally many vertices and edges, and edges lead
/// to any vertex equally often. The number of vertices at a boundary is the expected one, V (1 - (1 - 1 /
/// V)^E) for the E edges to others. Where some vertices have far more edges than others, or neighbours have
/// one owner, there are fewer, so this is an upper estimate. Throws UsageError where a number makes no sense.
GraphShares estimate_shares(std::uint64_t vertices, std::uint64_t edges, bool symmetric, int processes);

/// Returns the anonymous memory of the process that will take most, in bytes, with one worker in each
/// process. The sum leaves out the mapped graph, buffers of connections, rings, and the memory of rank 0
/// alone, which gathers results. For scc of directed graphs it leaves out the edges that its first search
/// leaves over: their number is not known. `kernel`: one that follows a frontier; else throws UsageError.
std::uint64_t frontier_memory(std::string_view kernel, const GraphShares& shares);

/// Returns estimates as text for people, ending with a newline.
std::string memory_text(std::string_view kernel, const std::vector<GraphShares>& estimates);
/// Returns {"kernel": ..., "rows": [...]}.
std::string memory_json(std::string_view kernel, const std::vector<GraphShares>& estimates);

}  // namespace edgewire::bounds
