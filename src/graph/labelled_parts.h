// Edges between names, as workers read them, and the graph that they become.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/labelled_lines.h"
#include "graph/readers.h"

namespace edgewire::graph {

/// What one worker has read.
struct LabelledPart {
  NameSet names;
  std::vector<LabelledEdges> edges;
  std::vector<std::uint32_t> vertices;  ///< of each name, after number_vertices()
};

/// The different names of all parts, in the order of their bytes; tells the parts the places of theirs.
std::vector<std::string_view> number_vertices(std::vector<LabelledPart>& parts);
/// Writes graph and names; frees the edges of the parts.
BuildSummary build_labelled(Conversion& conversion, std::vector<LabelledPart>& parts,
                            const std::vector<std::string_view>& names);

}  // namespace edgewire::graph
