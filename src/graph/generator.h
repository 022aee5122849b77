// Synthetic graphs. Edge i is a function of the seed and i, whatever the number of workers.
#pragma once

#include <cstdint>
#include <string>

#include "edgewire/convert.h"
#include "graph/file/builder.h"

namespace edgewire::graph {

/// Makes a Kronecker graph with Graph500's parameters (A, B, C = 0.57, 0.19, 0.19; Chakrabarti, Zhan,
/// Faloutsos: R-MAT, 2004): 2^scale vertices with permuted ids, edge_factor edges for each. Throws Error.
BuildSummary generate_kronecker(const std::string& path, int scale, std::uint64_t edge_factor,
                                const GenerateOptions& options);

/// Makes a graph whose sources and targets are drawn uniformly, with edge_factor edges for each vertex.
BuildSummary generate_uniform(const std::string& path, std::uint64_t vertices, std::uint64_t edge_factor,
                              const GenerateOptions& options);

struct GridShape {
  std::uint64_t rows = 0, columns = 0;
  /// Whether the last row and column are joined to the first ones where there are more than two.
  bool torus = false;
  bool keep_order = false;  ///< whether ids are row * columns + column; else they are permuted
};

/// Makes a graph in which each cell is joined to its neighbours on all four sides: symmetric and simple.
BuildSummary generate_grid(const std::string& path, const GridShape& shape, const GenerateOptions& options);

}  // namespace edgewire::graph
