// Rows of edges on their way from the graph file into tiles.
#pragma once

#include <cstdint>
#include <vector>

namespace edgewire::plan {

/// The edges of consecutive sources, in source order. Made once for each worker and filled again and again.
struct EdgeRows {
  std::vector<std::uint32_t> destinations;  ///< numbers or addresses, see ColumnAddresses
  std::vector<std::uint32_t> ends;          ///< [source]: number of destinations up to and including its own
  std::vector<float> weights;               ///< [destination]; empty where weights are not asked for
};

}  // namespace edgewire::plan
