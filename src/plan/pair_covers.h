// For each peer of a process: which of its source values to mirror there, and which sums to send.
#pragma once

#include <vector>

#include "graph/graph_file.h"
#include "plan/cover.h"
#include "plan/own_vertices.h"
#include "plan/ownership.h"

namespace edgewire::plan {

/// [peer]: the cover of the edges from the own vertices to the peer's; empty for the own rank. Sources are
/// named by their index in the own layout, destinations by their local number at the peer. Reads the own
/// edges once; needs 4 bytes for each edge that leaves the process, up to 16 for each source and peer, and
/// what minimum_cover() needs, until it returns.
std::vector<PairCover> cover_pairs(const graph::GraphFile& graph, const Ownership& ownership, int rank,
                                   const OwnVertices& own, const ForEach& for_each);

}  // namespace edgewire::plan
