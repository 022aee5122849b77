// What scores of betweenness are multiplied by to be shares of all paths.
#pragma once

#include <cstdint>

namespace edgewire::frontier {

struct BetweennessScale {
  double sources = 1;  ///< of vertices where paths start
  double others = 1;   ///< of all other vertices
};

/// As NetworkX 3.6 scales with normalized=True: scores are divided by the number of pairs of a source and a
/// target that a vertex could be between; with `endpoints` it may be one of them. `samples`: how many sources
/// were drawn, so that scores are an estimate; 0: none, all vertices count as sources.
inline BetweennessScale normalized_scale(std::uint64_t vertices, bool endpoints, std::uint64_t samples) {
  if (vertices < (endpoints ? 2U : 3U)) return {};  // no pair, and no score but 0
  const double targets = static_cast<double>(vertices - (endpoints ? 1 : 2));
  const auto scale = [targets](std::uint64_t sources) {
    return sources == 0 ? 0 : 1 / (static_cast<double>(sources) * targets);
  };
  if (samples > 0 && !endpoints) return {scale(samples - 1), scale(samples)};
  if (samples == 0) samples = endpoints ? vertices : vertices - 1;
  return {scale(samples), scale(samples)};
}

}  // namespace edgewire::frontier
