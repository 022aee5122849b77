// A graph in parts as one file.
#pragma once

#include "base/output_file.h"
#include "graph/builder.h"
#include "graph/graph_file.h"

namespace edgewire::graph {

/// Writes the graph as it is: the same bytes as a conversion to one file. Memory: a block for each worker.
/// Throws Error where a part is not here, or damaged.
BuildSummary join_parts(const GraphFile& graph, OutputFile& output, const BuildOptions& options,
                        const Progress& progress);

}  // namespace edgewire::graph
