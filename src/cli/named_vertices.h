// Vertices that a user names in an option or a file, as results name them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph_file.h"

namespace edgewire::cli {

/// The vertices of "NAME,NAME" or of "@FILE", a name on each line, in ascending order: one at least, none
/// twice. Lines that are blank or begin with # are skipped. Throws UsageError that names `option`, or Error
/// that names file and line.
std::vector<VertexId> named_vertices(const graph::GraphFile& graph, const std::string& list,
                                     const char* option);

/// The values of all vertices, from lines of name and value, as results are written; 0 for those without a
/// line. Throws Error that names file and line, also where a value is more than `most`, for which `remedy`
/// is the remedy.
std::vector<double> named_values(const graph::GraphFile& graph, const std::string& path, double most,
                                 const char* remedy);

}  // namespace edgewire::cli
