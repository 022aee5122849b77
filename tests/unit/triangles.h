#pragma once

#include <cstdint>
#include <vector>

#include "graph_test.h"

namespace edgewire::graph {

/// Returns two triangles, 0-1-2 and 3-4-5, whose edges are stored both ways, and 6 alone. An edge weighs 2,
/// but those of 0 and 1, which weigh 5.
inline BuiltGraph triangles(bool weighted = true) {
  std::vector<Edge> edges;
  for (const std::uint32_t first : {0U, 3U})
    for (std::uint32_t i = 0; i < 3; ++i)
      for (std::uint32_t j = 0; j < 3; ++j)
        if (i != j) edges.emplace_back(first + i, first + j, first == 0 && i + j == 1 ? 5.0F : 2.0F);
  BuildOptions options;
  options.weighted = weighted;
  return {7, edges, options};
}

}  // namespace edgewire::graph
