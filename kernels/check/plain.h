// Plain sequential ways over a graph, for `--verify` and `bound`. They share nothing with the kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "edgewire/graph.h"

namespace edgewire::kernels {

/// The vertices that a source reaches, level by level: a level is the fewest edges of a path from the source.
struct Levels {
  std::vector<std::uint32_t> level;  ///< levels, [vertex]; kUnreached
  std::vector<VertexId> reached;     ///< vertices in the order of their levels
  std::vector<std::size_t> ends;     ///< ends of the levels in `reached`, [level]
  std::vector<std::uint64_t> edges;  ///< number of edges out of a level's vertices, [level]

  static constexpr std::uint32_t kUnreached = 0xffffffff;
  std::size_t count() const noexcept { return ends.size(); }
  std::span<const VertexId> of(std::size_t l) const noexcept {
    const std::size_t first = l == 0 ? 0 : ends[l - 1];
    return std::span(reached).subspan(first, ends[l] - first);
  }
};

/// Searches breadth-first from `source`, a vertex of the graph, one vertex after the other.
inline Levels plain_breadth_first(const Graph& graph, VertexId source) {
  Levels found;
  found.level.assign(graph.vertices(), Levels::kUnreached);
  found.level[source] = 0;
  found.reached = {source};
  for (std::size_t first = 0; first < found.reached.size();) {
    const std::size_t last = found.reached.size();
    const auto level = static_cast<std::uint32_t>(found.ends.size());
    std::uint64_t edges = 0;
    for (std::size_t i = first; i < last; ++i) {
      const auto targets = graph::Row{graph, found.reached[i]}.targets();
      edges += targets.size();
      for (const VertexId v : targets) {
        if (found.level[v] != Levels::kUnreached) continue;
        found.level[v] = level + 1;
        found.reached.push_back(v);
      }
    }
    found.edges.push_back(edges);
    found.ends.push_back(last);
    first = last;
  }
  return found;
}

/// Calls visit(target, weight) for the edges out of a vertex; `unit`: with weight 1, else that of the file.
template <class Visit>
void each_edge(const Graph& graph, VertexId u, bool unit, const Visit& visit) {
  const graph::Row row{graph, u};
  if (unit) {
    for (const VertexId v : row.targets()) visit(v, std::uint32_t{1});
    return;
  }
  row.weights().visit([&](const auto weights) {
    for (std::size_t e = 0; e < weights.size(); ++e) visit(row.targets()[e], weights[e]);
  });
}

/// The shortest distances. `Sum` is a type that adds weights without reaching its limit.
template <class Sum>
struct Distances {
  static constexpr std::uint32_t kUnreached = 0xffffffff;
  std::vector<Sum> sums;             ///< distances of reached vertices, [vertex]
  std::vector<std::uint32_t> edges;  ///< number of edges of a path of this length, [vertex]; kUnreached
  std::vector<VertexId> reached;     ///< reached vertices, the nearest first

  bool is_reached(VertexId v) const { return edges[v] != kUnreached; }
};

/// Finds the shortest distances (Dijkstra: "A note on two problems in connexion with graphs", 1959). `unit`:
/// all edges have weight 1. No weight is negative.
template <class Sum>
Distances<Sum> plain_dijkstra(const Graph& graph, VertexId source, bool unit) {
  using Way = std::pair<Sum, VertexId>;
  Distances<Sum> found{std::vector<Sum>(graph.vertices()),
                       std::vector<std::uint32_t>(graph.vertices(), Distances<Sum>::kUnreached),
                       {}};
  std::vector<bool> done(graph.vertices());
  std::priority_queue<Way, std::vector<Way>, std::greater<>> open;
  found.edges[source] = 0;
  open.emplace(Sum{0}, source);
  while (!open.empty()) {
    const auto [distance, u] = open.top();
    open.pop();
    if (done[u]) continue;
    done[u] = true;
    found.reached.push_back(u);
    each_edge(graph, u, unit, [&, d = distance, from = u](VertexId v, auto weight) {
      const Sum way = d + static_cast<Sum>(weight);
      if (found.is_reached(v) && way >= found.sums[v]) return;
      found.sums[v] = way;
      found.edges[v] = found.edges[from] + 1;
      open.emplace(way, v);
    });
  }
  return found;
}

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

/// Calls visit(u) for the other ends of the edges from and to a vertex; of symmetric graphs, from it alone.
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
