// Which way a kernel follows the edges of a graph.
#pragma once

#include <string>

#include "base/parallel.h"
#include "graph/graph_file.h"

namespace edgewire::graph {

/// From source to target, from target to source, or both ways.
enum class Direction { out, in, both };

/// The graph whose out-edges are the edges of `graph` in this direction, with their weights. Vertices and
/// original ids are the same. Where the file stores every edge both ways (GraphFile::symmetric()), and for
/// `out`, this is `graph` itself. Else it is written to an unnamed file in `folder`; memory as for Builder.
/// Throws Error, also for a graph whose names stand in a table: the table belongs to its file.
GraphFile view(GraphFile graph, Direction direction, const std::string& folder, int workers,
               const Progress& progress = {});

}  // namespace edgewire::graph
