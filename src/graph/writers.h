// From our format to those of others: one function for each kind of file. Each reads and checks the whole
// graph and writes a file whole or not at all. All throw Error with the path.
#pragma once

#include <string>

#include "graph/export.h"

namespace edgewire::graph {

/// One graph to be written.
struct Export {
  const GraphFile& graph;
  const std::string& output;  ///< a path, or - for stdout where the format is text
  bool weights;               ///< write them where graph and format have them
  bool names;                 ///< of edge lists: vertices have names, not numbers
  int workers;
  const Progress& progress;
};

/// GAP's edge lists, .el and (weighted) .wel: "SOURCE TARGET [WEIGHT]", from 0, in the order of the graph; or
/// the names of vertices. Throws Error when a name would be read as something else.
WriteSummary write_gap_text(const Export& task, bool weighted);
/// A table with a header (RFC 4180, with LF at line ends): source, target and, where they are written,
/// weight. Vertices are called as in results, by their names or by the ids that they had.
WriteSummary write_table(const Export& task, char separator);
/// A Matrix Market coordinate file, from 1: general; pattern, or (weighted) integer or real.
WriteSummary write_matrix_market(const Export& task);
/// A METIS graph, from 1: the edges must be there both ways, once,
/// without self loops, and weights must be whole numbers from 1 to 2^31 - 1.
WriteSummary write_metis(const Export& task);
/// GAP's serialized graphs, .sg and (weighted) .wsg: see read_gap_binary. Vertices are fewer than 2^31 and
/// weights are 32-bit whole numbers. Memory: 4 bytes for each edge (8 with weights) and 8 for each vertex,
/// unless the graph is symmetric.
WriteSummary write_gap_binary(const Export& task, bool weighted);

}  // namespace edgewire::graph
