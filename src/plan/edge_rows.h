// Rows of edges on their way from the graph file into tiles.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph_file.h"

namespace edgewire::plan {

/// Bytes of a weight in tiles and on the wire: those of a float where no weight changes by that, else those
/// of a double. 0: edges have none.
inline std::size_t weight_bytes(const graph::GraphFile& graph, bool weighted) {
  if (!weighted) return 0;
  return graph.float_weights() ? sizeof(float) : sizeof(double);
}

/// The edges of consecutive sources, in source order. Made once for each worker and filled again and again.
struct EdgeRows {
  std::vector<std::uint32_t> destinations;  ///< numbers or addresses, see ColumnAddresses
  std::vector<std::uint32_t> ends;          ///< [source]: number of destinations up to and including its own
  std::vector<double> weights;              ///< [destination]; empty where weights are not asked for
};

}  // namespace edgewire::plan
