// The kernels as in the textbook: sequential, in double precision, straight over the graph file. Used to
// check the others.
#pragma once

#include <vector>

#include "graph/graph_file.h"
#include "kernels/pagerank.h"

namespace edgewire::kernels {

/// Ranks of all vertices after exactly options.iterations iterations.
std::vector<double> reference_pagerank(const graph::GraphFile& graph, const PageRankOptions& options);

}  // namespace edgewire::kernels
