// Betweenness centrality: on how many of the shortest paths that start at some sources does a vertex lie?
// (Brandes: "A faster algorithm for betweenness centrality", Journal of Mathematical Sociology 25, 2001.)
//
// From each source, level by level, sigma[v] is the number of shortest paths from the source to v: the sum of
// sigma over the vertices of the level before that have an edge to v. Then backward, with
//
//   c[v] = 1 / sigma[v] + sum of c[w] over the edges from v to vertices w of the next level,
//
// sigma[v] c[v] - 1 is what v has of the paths from this source to all others.
//
// Here all workers and processes share the levels of each search, as betweenness_levels.h has it: its .cpp
// goes forward, betweenness_shares.h backward. With betweenness_apart.h each worker searches from sources of
// its own; only so paths may have the least sum of weights, by betweenness_weighted.h. scaled.h counts more
// paths than doubles can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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

  /// Sets scores(), to which run() adds: those of an earlier run. Throws Error when there are not as many.
  void take_up(std::vector<double> scores);

  /// Adds up the paths that start at these vertices. Returns the supersteps: one for each level
  /// forward and backward, each the sum over all sources of this call. A search that ends at a double's limit
  /// counts, too, and is done again. Calls after_source(sources of this call that are done) in all processes.
  /// May be called again. Collective; throws Error.
  std::vector<Superstep> run(
      std::span<const VertexId> sources,
      const std::function<void(std::size_t)>& after_source = [](std::size_t) {});

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

struct BetweennessScale {
  double sources = 1;  ///< of vertices where paths start
  double others = 1;   ///< of all other vertices
};
/// What scores are multiplied by to be shares of all paths, as NetworkX 3.6 has it with normalized=True: they
/// are divided by the number of pairs of a source and a target that a vertex could be between; with
/// `endpoints` it may be one of them. `samples`: how many sources were drawn, so that scores are an estimate;
/// 0: none, all vertices count as sources.
BetweennessScale normalized_scale(std::uint64_t vertices, bool endpoints, std::uint64_t samples);
/// Multiplies the scores of this process, [local number]; or those of all vertices, [vertex], where
/// `of_all`. `sources`: in order.
void scale_scores(const FrontierJob& job, std::span<double> scores, bool of_all, const BetweennessScale& by,
                  std::span<const VertexId> sources);

}  // namespace edgewire::frontier
