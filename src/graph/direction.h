// The rows of a graph once more, as they are or from target to source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "edgewire/graph.h"
#include "graph/builder.h"

namespace edgewire::graph {

/// Adds all edges of a graph to `builder`, and lets go of the pages that hold them; where `turned`, each from
/// its target to its source. Throws Error.
void add_rows(const GraphFile& graph, Builder& builder, bool turned, const char* step,
              const Progress& progress);

/// Returns the ids that vertices had in the file that was converted; empty where these are their numbers.
std::vector<std::uint64_t> original_ids(const GraphFile& graph);

}  // namespace edgewire::graph
