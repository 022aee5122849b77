#include "kernels/count.h"

#include <fmt/core.h>

#include "base/error.h"
#include "graph/vertex_names.h"
#include "options/options.h"

namespace edgewire::kernels {

void RecordLoad::add(const RecordLoad& other) {
  for (std::size_t p = 0; p < sent.size(); ++p) {
    sent[p] += other.sent[p];
    received[p] += other.received[p];
  }
}

RecordLoad bits_of_known(const graph::GraphFile& graph, const partition::Ownership& ownership) {
  constexpr std::uint64_t kVerticesARecord = 64;
  const auto processes = static_cast<std::uint32_t>(ownership.processes());
  RecordLoad bits(processes);
  Names names(graph, ownership);
  for (std::uint32_t p = 0; p < processes; ++p) {
    std::vector<std::uint64_t> known(processes);  // [owner]
    for (LocalNumber local{}; local < ownership.count(p); ++local)
      for (const VertexId v : graph::Row{graph, ownership.vertex(p, local)}.targets())
        if (names.add(p, v)) ++known[names.owner(v)];
    for (std::uint32_t owner = 0; owner < processes; ++owner)
      bits.add(owner, p, (known[owner] + kVerticesARecord - 1) / kVerticesARecord);
  }
  return bits;
}

Names::Names(const graph::GraphFile& graph, const partition::Ownership& ownership)
    : owners_(graph.vertices()), namers_(graph.vertices(), kNobody) {
  for (VertexId v{}; v < owners_.size(); ++v) owners_[v] = ownership.home(v).owner;
}

bool is_dense(std::string_view kernel) {
  return std::ranges::find(kDenseKernels, kernel) != kDenseKernels.end();
}

bool has_source(std::string_view kernel) { return kernel == "bfs" || kernel == "sssp" || kernel == "bc"; }

void check_frontier_ownerships(std::string_view kernel, const std::vector<std::string>& ownerships) {
  for (const auto& one : ownerships) {
    if (one == "auto")
      throw UsageError(
          fmt::format("{} counts what pagerank would send: name hash, ranges or a partition file",
                      opt::ownership("auto")));
    if (partition::owns_edges(one))
      throw UsageError(fmt::format("{}: {} needs owners of vertices: hash, ranges or a partition file",
                                   opt::ownership(one), kernel));
  }
}

FrontierCount count_of(const CountedRun& run, const graph::GraphFile& graph) {
  if (run.kernel == "wcc") return count_components(graph);
  if (run.kernel == "scc") return count_strong_components(graph);
  if (run.kernel == "lcc") return count_triangles(graph);
  if (run.kernel == "cdlp") return count_labels(graph, run.iterations);
  if (!has_source(run.kernel)) throw UsageError(fmt::format("there is no count of {}", run.kernel));
  const auto source = graph::VertexNames(graph).find(run.source);
  if (!source) throw Error(fmt::format("{}: {} has no such vertex", opt::source(run.source), graph.path()));
  if (run.kernel == "bc") return count_betweenness(graph, *source);
  if (run.kernel == "bfs") return count_breadth_first(graph, *source);
  return count_shortest_paths(graph, *source);
}

}  // namespace edgewire::kernels
