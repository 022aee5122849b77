// The .properties file beside a .graph file of WebGraph.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "graph/bit_code.h"

namespace edgewire::graph {

/// What it says of a graph that WebGraph's class BVGraph wrote.
struct WebGraphProperties {
  enum Field : std::size_t { outdegrees, references, block_counts, blocks, residuals, offsets, kFields };

  std::string path;  ///< of the .properties file
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t window = 0;        ///< a row copies from one at most so far before it; 0: none does
  std::uint64_t chain = 0;         ///< so many rows in turn copy from one another; kNoLimit
  std::uint64_t min_interval = 0;  ///< the shortest interval; 0: there are none
  std::uint64_t parameter = 3;     ///< of zeta and Golomb's codes
  std::array<BitCode, kFields> codes{};

  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
};

/// The keys and values of a Java properties file, as java.util.Properties reads it. Characters other than
/// ASCII's become '?'.
std::map<std::string, std::string> parse_java_properties(std::string_view text);

/// "x.graph": "x" + ending.
std::string beside_webgraph(std::string_view path, std::string_view ending);
/// Whether the .properties file beside this .graph file names a graph class, so that it is one of WebGraph.
bool has_graph_class(std::string_view path);
/// Reads the .properties file beside `path`. Throws Error, with what would help, where it is missing, of
/// another class than BVGraph, of a version that is not known, or not whole.
WebGraphProperties read_webgraph_properties(std::string_view path);

}  // namespace edgewire::graph
