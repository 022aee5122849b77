// Whether text that is to be read as edges is a METIS graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace edgewire::graph {

/// What the first line of a METIS graph says.
struct MetisCounts {
  std::uint64_t vertices, edges;
};

/// The counts of the METIS graph that `text` is, or, where it is not the `whole` file, that it begins: the
/// first line counts vertices and edges, a line for each vertex follows, and each edge is in the lines of
/// both its ends. None for other text, also where a line is a comment that METIS does not know (#, //). A
/// list of edges looks like that by accident only.
std::optional<MetisCounts> metis_graph_in(std::string_view text, bool whole);

}  // namespace edgewire::graph
