#include "perf/bench/graph_tiles.h"

#include "topology/machine.h"
#include "topology/placement.h"

namespace edgewire::perf {

void GraphReader::read(std::uint32_t first, std::uint32_t last, plan::EdgeRows& rows) const {
  auto &destinations = rows.destinations, &ends = rows.ends;
  const auto begin = graph_.offsets[first];
  ends.clear();
  destinations.assign(graph_.targets.data() + begin, graph_.targets.data() + graph_.offsets[last]);
  for (auto& destination : destinations) destination = address_(destination);
  for (std::uint32_t s = first; s < last; ++s)
    ends.push_back(static_cast<std::uint32_t>(graph_.offsets[s + 1] - begin));
}

topology::WorkerPool make_pool(int workers) {
  return topology::WorkerPool(topology::place(topology::discover(), 0, 1, workers));
}

std::vector<std::uint32_t> cut_columns(const PlainGraph& graph, int workers) {
  std::vector<std::uint32_t> edges_to(graph.vertices());
  for (const std::uint32_t target : graph.targets) ++edges_to[target];
  const std::uint64_t share = graph.targets.size() / (16 * static_cast<std::uint64_t>(workers));
  std::vector<std::uint32_t> bounds{0};
  std::uint64_t edges = 0;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    if (v > bounds.back() && (v - bounds.back() == tiles::kColumnWidth || edges + edges_to[v] > share)) {
      bounds.push_back(v);
      edges = 0;
    }
    edges += edges_to[v];
  }
  bounds.push_back(graph.vertices());
  return bounds;
}

}  // namespace edgewire::perf
