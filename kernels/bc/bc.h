// Betweenness centrality: the number of shortest paths from some sources on which a vertex lies. (Brandes: "A
// faster algorithm for betweenness centrality", Journal of Mathematical Sociology 25, 2001.)
//
// From each source, in the order of distances, sigma[v] is the number of shortest paths from the source to v:
// the sum of sigma over the predecessors of v, whose edges to v are the last ones of such paths. Then
// backward, delta[v] is the share of v in the paths from this source to all others, the dependency on v. Its
// score is the sum of delta over all sources. The share of a path to v is the value of the path, for v as a
// target and for those targets behind v to which it goes on:
//
//   share[v] = (1 + delta[v]) / sigma[v] = 1 / sigma[v] + sum of share[w]
//
// over the edges from v to vertices w of which it is a predecessor. So delta[v] is sigma[v] times that sum.
//
// levels.h searches level by level, with all workers and processes; weighted.cpp by sums of weights, with one
// worker. by_source.h lets each worker search from own sources. scaled.h counts more paths than doubles can.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "edgewire/kernels.h"
#include "frontier/frontier_job.h"

namespace edgewire::kernels {

/// The sums to which searches from several sources add.
struct BcSums {
  std::vector<double> scores;                          ///< scores, [local number]
  std::vector<frontier::Superstep> forward, backward;  ///< supersteps, [level]
};

/// A search forward and backward from one source after the other.
class BcSearch {
 public:
  virtual ~BcSearch() = default;
  /// Adds the paths that start at this vertex to `sums`, whose scores have their size. Returns false, and
  /// adds nothing to scores, where there are more paths than it can count. Collective; throws Error.
  virtual bool add(VertexId source, BcSums& sums) = 0;
};

class Bc {
 public:
  /// The values of Superstep::kind.
  static constexpr std::uint64_t kForward = 0, kBackward = 1;

  /// Makes the kernel. Memory: that of BcLevels<double>, and from the first source on from which more than
  /// 1e300 shortest paths lead to a vertex, that of BcLevels<Scaled>. Where paths are weighted, it is that of
  /// weighted_search(), and the job has one thread. `job` outlives it. Throws Error.
  explicit Bc(frontier::Job& job, const BcOptions& options = {});

  /// Sets scores(), to which run() adds, to those of an earlier run. Throws Error when there are not as many.
  void resume(std::vector<double> scores);

  /// Adds up the paths that start at these vertices. Returns the supersteps: one for each level forward and
  /// backward, each the sum over all sources of this call; of weighted paths one for all sweeps over the
  /// edges. A search that ends at a double's limit counts, too, and is done again. Calls after_source(sources
  /// of this call that are done) in all processes. It may be called again. Collective; throws Error.
  std::vector<frontier::Superstep> run(
      std::span<const VertexId> sources,
      const std::function<void(std::size_t)>& after_source = [](std::size_t) {});

  /// Returns the scores by local number: the sum over all sources and all targets t other than the vertex and
  /// the source of the share of the shortest paths from source to t on which the vertex lies.
  const std::vector<double>& scores() const noexcept { return sums_.scores; }

 private:
  frontier::Job& job_;
  BcOptions options_;
  std::unique_ptr<BcSearch> search_;  ///< search that counts in doubles until these cannot count the paths
  BcSums sums_;
};

/// Throws Error when the graph has no weights, or an edge of this process has one that is not above 0: around
/// a circle of weight 0 there would be no end of shortest paths.
void expect_positive_weights(frontier::Job& job);

/// Makes a search over paths of the least sum of weights, by one thread, that counts paths in a Number:
/// double or Scaled. Distances are whole where weights are, so that ties are exact; else doubles, which round
/// once an edge. Memory: 28 bytes for each vertex, 44 where Number is Scaled, and 16 for each vertex or edge
/// in the queue. All weights are above 0. `alone`: a job of one thread, which outlives the search. Throws
/// Error when the graph has no weights; add() also when the least distance of a vertex is too large, or may
/// end with an edge for whose weight it has no digits left.
template <class Number>
std::unique_ptr<BcSearch> weighted_search(frontier::Job& alone, bool endpoints);

/// Returns whether a level of a graph that stores every edge both ways is pulled. `frontier`, `edges`:
/// vertices of the level before, and edges out of them; `unvisited`: edges out of vertices not reached yet.
bool betweenness_pulls(std::uint64_t frontier, std::uint64_t edges, std::uint64_t unvisited, int processes);

struct BcScale {
  double sources = 1;  ///< factor of vertices where paths start
  double others = 1;   ///< factor of all other vertices
};
/// Returns the factors that make scores shares of all paths, as NetworkX 3.6 defines them with
/// normalized=True: they are divided by the number of pairs of a source and a target that a vertex could be
/// between; with `endpoints` it may be one of them. `samples`: the number of sources that were drawn, so that
/// scores are an estimate; 0: none, all vertices count as sources.
BcScale normalized_scale(std::uint64_t vertices, bool endpoints, std::uint64_t samples);
/// Multiplies scores of this process, [local number], or `of_all` vertices, [vertex]. `sources`: in order.
void scale_scores(const frontier::Job& job, std::span<double> scores, bool of_all, const BcScale& by,
                  std::span<const VertexId> sources);

}  // namespace edgewire::kernels
