// Betweenness centrality over paths of the least sum of weights, by one thread: Dijkstra's order of the
// vertices (Numerische Mathematik 1, 1959), then Brandes's sums along it, as in betweenness.h.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "frontier/frontier_job.h"
#include "frontier/scaled.h"

namespace edgewire::frontier {

/// Throws Error when the graph has no weights, or an edge of this process one that is not above 0: around a
/// circle of weight 0 there would be no end of shortest paths.
void expect_positive_weights(FrontierJob& job);

/// Distance: std::uint64_t where weights are whole numbers, so that ties are exact; else double, which rounds
/// once an edge.
template <class Distance>
class BetweennessWeighted {
 public:
  /// Memory: 36 bytes for each vertex, 52 where paths are counted in Scaled, and 16 for each vertex or edge
  /// in the queue. All weights are above 0. `alone`: a job of one thread, which outlives it. `endpoints`: as
  /// Betweenness. Throws Error when the graph has no weights.
  BetweennessWeighted(FrontierJob& alone, bool endpoints);

  /// As Betweenness; a superstep for each of the three sweeps over the edges of all sources. Throws Error
  /// also when a distance is too large, or has no digits left for a weight.
  std::vector<Superstep> run(std::span<const VertexId> sources);
  const std::vector<double>& scores() const noexcept { return scores_; }

 private:
  using Queued = std::pair<Distance, VertexId>;
  /// [vertex]: paths and their shares, or 0.
  template <class Number>
  struct Counts {
    std::vector<Number> paths, shares;
  };

  void search(VertexId source);
  template <class Number>
  bool count(Counts<Number>& counts);
  template <class Number>
  void share(Counts<Number>& counts);
  template <class Number>
  bool add(Counts<Number>& counts);
  template <class Weight>
  Distance along(VertexId v, VertexId target, Weight weight) const;
  template <class Work>
  void for_each_shortest(VertexId v, const Work& work);

  FrontierJob& job_;
  bool endpoints_;
  std::vector<Distance> distances_;
  std::vector<VertexId> order_;  ///< reached vertices, the nearest first
  std::vector<Queued> queue_;    ///< a heap, the nearest first
  Counts<double> doubles_;       ///< until a double cannot count the paths
  Counts<Scaled> scaled_;        ///< from then on
  std::vector<double> scores_;
  std::uint64_t followed_ = 0;  ///< edges
};

extern template class BetweennessWeighted<std::uint64_t>;
extern template class BetweennessWeighted<double>;

}  // namespace edgewire::frontier
