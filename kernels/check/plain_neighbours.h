// The edges of a graph the other way round. The counts of `bound` and the references of `--verify` look them
// up here; it shares nothing with the kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

#include "edgewire/graph.h"

namespace edgewire::kernels {

/// The sources of the edges to each vertex. Memory: an id for each edge and 8 bytes for each vertex.
class PlainSources {
 public:
  explicit PlainSources(const Graph& graph) : begin_(graph.vertices() + 2), sources_(graph.edges()) {
    for (const VertexId target : graph.targets()) ++begin_[target + std::size_t{2}];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    for (VertexId v{}; v < graph.vertices(); ++v)
      for (const VertexId target : graph::Row{graph, v}.targets())
        sources_[begin_[target + std::size_t{1}]++] = v;
  }
  /// Returns the sources of the edges to a vertex, ascending, once for each edge.
  std::span<const VertexId> of(VertexId v) const {
    return std::span(sources_).subspan(begin_[v], begin_[v + std::size_t{1}] - begin_[v]);
  }

 private:
  std::vector<std::uint64_t> begin_;
  std::vector<VertexId> sources_;
};

/// Calls visit(u) for each edge from or to a vertex with its other end, in any order. In graphs that store
/// every edge both ways the edges from it are all.
template <class Visit>
void each_neighbour(const Graph& graph, const PlainSources& sources, VertexId v, const Visit& visit) {
  for (const VertexId u : graph::Row{graph, v}.targets()) visit(u);
  if (graph.symmetric()) return;
  for (const VertexId u : sources.of(v)) visit(u);
}

/// Returns all vertices but `v` with an edge from or to it, ascending, each once.
inline std::vector<VertexId> neighbours_of(const Graph& graph, const PlainSources& sources, VertexId v) {
  std::vector<VertexId> found;
  std::ranges::set_union(graph::Row{graph, v}.targets(), sources.of(v), std::back_inserter(found));
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::erase(found, v);
  return found;
}

}  // namespace edgewire::kernels
