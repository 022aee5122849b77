// A plain search for shortest paths (Dijkstra: "A note on two problems in connexion with graphs", 1959): the
// reference of `sssp --verify` and `bc --verify`. It shares nothing with the kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "edgewire/graph.h"

namespace edgewire::kernels {

/// Calls visit(target, weight) for the edges out of a vertex, with the weight in the type of the file; where
/// `unit`, with weight 1.
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

/// Finds the shortest distances. `unit`: all edges have weight 1. No weight is negative.
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

}  // namespace edgewire::kernels
