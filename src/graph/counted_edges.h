// Edge lines of formats whose header says how many vertices and edges there are, with ids from 1 on.
#pragma once

#include <cstdint>
#include <string_view>

#include "graph/edge_lines.h"
#include "graph/readers.h"

namespace edgewire::graph {

struct CountedEdges {
  std::uint64_t vertices = 0;
  std::uint64_t entries = 0;  ///< lines that hold an edge
  bool weighted = false;      ///< each line has a weight
  bool negated = false;       ///< each edge is also there the other way, its weight negated
  LineShape shape;            ///< ids and weights are filled in here
  std::string_view header;    ///< what messages call the line with the counts
};

/// Throws Error when the counts of the header cannot be right or are more than is supported. `line` points
/// into the piece.
void check_counts(const Input& input, const Piece& piece, std::string_view line, const CountedEdges& counted);

/// Reads the edges that follow, from `first` on, and writes the graph. Its vertices keep their ids, 1 to
/// `vertices`; where that is far more than have edges, only those that have edges become vertices.
BuildSummary read_counted_edges(Conversion& conversion, const Piece& first, CountedEdges counted);

}  // namespace edgewire::graph
