// Lines of text, each an edge: "SOURCE TARGET [WEIGHT]".
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/input.h"

namespace edgewire::graph {

/// What the lines must look like. Lines that are blank or begin with # or % are skipped. Fields are separated
/// by spaces, tabs or commas.
struct LineShape {
  std::uint64_t min_id = 0;
  std::uint64_t max_id = ~std::uint64_t{0};
  bool weighted = false;     ///< the third field is a weight
  bool vertex = false;       ///< a line is a vertex alone, read as an edge from it to itself
  bool ignore_rest = false;  ///< fields after those that are read are skipped, not refused
};

/// The edges of one piece of text.
struct ParsedEdges {
  std::vector<std::uint64_t> ids;  ///< source and target of each
  std::vector<float> weights;      ///< one for each when weighted, else empty
};

/// Parses a piece into `edges`, replacing what is there. Throws Error with path, line and byte offset.
void parse_edge_lines(const Input& input, const Piece& piece, const LineShape& shape, ParsedEdges& edges);

/// Takes pieces of text in parallel; `first` is one that was taken already.
void each_edge_piece(Input& input, int workers, const LineShape& shape, const Piece& first,
                     const Progress& progress,
                     const std::function<void(int worker, const ParsedEdges& edges)>& take);

/// The number of fields of the first line of the piece that holds an edge; 0 when there is none.
int fields_of_first_edge(const Piece& piece);

}  // namespace edgewire::graph
