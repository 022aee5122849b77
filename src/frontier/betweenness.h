// Betweenness centrality: on how many of the shortest paths that start at some sources does a vertex lie?
// Here all workers and processes share the levels of each search.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "frontier/betweenness_levels.h"

namespace edgewire::frontier {

class Betweenness {
 public:
  using Kind = BetweennessLevels<double>::Kind;
  static constexpr Kind kForward = BetweennessLevels<double>::kForward;
  static constexpr Kind kBackward = BetweennessLevels<double>::kBackward;

  /// Memory: as BetweennessLevels<double>, and from the first source on from which more than 1e300 shortest
  /// paths lead to a vertex, as BetweennessLevels<Scaled>. `endpoints`: a path lies on its first and its last
  /// vertex, too. `job` outlives it.
  explicit Betweenness(FrontierJob& job, bool endpoints = false);

  /// Adds up the paths that start at these vertices, global ids. Returns the supersteps: one for each level
  /// forward and backward, each the sum over all sources of this call. A search that ends at a double's limit
  /// counts, too, and is done again. May be called again. Collective; throws Error.
  std::vector<Superstep> run(std::span<const std::uint32_t> sources);

  /// [local number]: the sum over all sources and all targets t other than the vertex and the source of the
  /// share of the shortest paths from source to t on which the vertex lies.
  const std::vector<double>& scores() const noexcept { return sums_.scores; }

 private:
  FrontierJob& job_;
  bool endpoints_;
  std::optional<BetweennessLevels<double>> doubles_;  ///< until a double cannot count the paths
  std::optional<BetweennessLevels<Scaled>> scaled_;   ///< from then on
  BetweennessSums sums_;
};

}  // namespace edgewire::frontier
