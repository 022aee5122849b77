// This file has the memory of its own that a process of a kernel which follows a frontier will take. It is
// counted before a run, or estimated where there is no graph yet.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "edgewire/graph.h"
#include "kernels/descriptor.h"
#include "partition/ownership.h"

namespace edgewire::bounds {

using kernels::GraphShares;
using kernels::ProcessShare;

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
/// leaves over: their number is not known beforehand. `kernel`: one that follows a frontier; else throws
/// UsageError.
std::uint64_t frontier_memory(std::string_view kernel, const GraphShares& shares);

/// Returns estimates as text for people, ending with a newline.
std::string memory_text(std::string_view kernel, const std::vector<GraphShares>& estimates);
/// Returns {"kernel": ..., "rows": [...]}.
std::string memory_json(std::string_view kernel, const std::vector<GraphShares>& estimates);

}  // namespace edgewire::bounds
