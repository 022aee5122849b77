#include <fmt/format.h>

#include <map>
#include <vector>

#include "edgewire/graph.h"
#include "graph/file/vertex_names.h"
#include "kernels/check/check.h"
#include "kernels/check/plain_neighbours.h"

namespace edgewire::kernels {

std::string check_cdlp(const Graph& graph, std::uint64_t iterations, std::span<const PlainId> labels) {
  graph.verify_rows(0, graph.vertices());
  const PlainSources sources(graph);
  std::vector<std::uint64_t> ids(graph.vertices());
  for (VertexId v{}; v < ids.size(); ++v) ids[v] = graph.original_id(v);
  auto right = ids;
  for (std::uint64_t done = 0; done < iterations; ++done) {
    auto next = right;
    for (VertexId v{}; v < ids.size(); ++v) {
      std::map<std::uint64_t, std::uint64_t> votes;
      each_neighbour(graph, sources, v, [&](VertexId u) { ++votes[right[u]]; });
      std::uint64_t most = 0;
      for (const auto& [label, count] : votes)
        if (count > most) most = count, next[v] = label;
    }
    if (next == right) break;
    right = std::move(next);
  }
  for (VertexId v{}; v < ids.size(); ++v) {
    if (labels[v] < ids.size() && ids[labels[v]] == right[v]) continue;
    const graph::VertexNames names(graph);
    return fmt::format("vertex {} has the label {}, which is not the most frequent one around it", names(v),
                       labels[v] < ids.size() ? names(VertexId(labels[v])) : "of no vertex");
  }
  return {};
}

}  // namespace edgewire::kernels
