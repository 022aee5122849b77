// The rows of a graph once more: as they are, or the way that a kernel follows their edges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "edgewire/graph.h"
#include "graph/builder.h"

namespace edgewire::graph {

/// The way that edges are followed: from source to target, from target to source, or both ways.
enum class Direction { out, in, both };

/// Returns the graph whose out-edges are the edges of `graph` in this direction, with their weights. Vertices
/// and original ids are the same. Where the file stores every edge both ways (GraphFile::symmetric()), and
/// for `out`, this is `graph` itself. Else it is written to an unnamed file in `folder`; memory as for
/// Builder. Throws Error, also for a graph whose names stand in a table: the table belongs to its file.
GraphFile view(GraphFile graph, Direction direction, const std::string& folder, int workers,
               const Progress& progress = {});

/// Adds all edges of a graph to `builder`, and lets go of the pages that hold them; where `turned`, each from
/// its target to its source. Throws Error.
void add_rows(const GraphFile& graph, Builder& builder, bool turned, const char* step,
              const Progress& progress);

/// Returns the ids that vertices had in the file that was converted; empty where these are their numbers.
std::vector<std::uint64_t> original_ids(const GraphFile& graph);

}  // namespace edgewire::graph
