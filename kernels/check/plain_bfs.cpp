#include "kernels/check/plain_bfs.h"

namespace edgewire::kernels {

Levels plain_breadth_first(const Graph& graph, VertexId source) {
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

}  // namespace edgewire::kernels
