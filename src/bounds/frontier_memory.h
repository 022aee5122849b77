// This file tells what processes of a kernel that follows a frontier will hold in memory of their own. It is
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
/// over: nobody knows beforehand how many there are. `kernel`: one that follows a frontier; else throws
/// UsageError.
std::uint64_t frontier_memory(std::string_view kernel, const GraphShares& shares);

/// Returns such estimates as text for people, ending with a newline.
std::string memory_text(std::string_view kernel, const std::vector<GraphShares>& estimates);
/// Returns {"kernel": ..., "rows": [...]}.
std::string memory_json(std::string_view kernel, const std::vector<GraphShares>& estimates);

}  // namespace edgewire::bounds
