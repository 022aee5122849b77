#include "perf/frontier_count.h"

#include <fmt/core.h>

#include "error.h"
#include "graph/vertex_names.h"

namespace edgewire::perf {

void RecordLoad::add_bits_of_all(const plan::Ownership& ownership) {
  constexpr std::uint64_t kVerticesARecord = 64;
  for (std::uint32_t p = 0; p < sent.size(); ++p) {
    const std::uint64_t records = (ownership.count(p) + kVerticesARecord - 1) / kVerticesARecord;
    sent[p] += records * (sent.size() - 1);
    for (std::uint32_t peer = 0; peer < received.size(); ++peer)
      if (peer != p) received[peer] += records;
  }
}

void check_source(const graph::GraphFile& graph, VertexId source) {
  if (source >= graph.vertices())
    throw UsageError(fmt::format("source: {} is no vertex of {}, which has {}", std::uint32_t{source},
                                 graph.path(), graph.vertices()));
}

Names::Names(const graph::GraphFile& graph, const plan::Ownership& ownership)
    : owners_(graph.vertices()), namers_(graph.vertices(), kNobody) {
  for (VertexId v{}; v < owners_.size(); ++v) owners_[v] = ownership.place(v).owner;
}

bool is_dense(std::string_view kernel) {
  return std::ranges::find(kDenseKernels, kernel) != kDenseKernels.end();
}

bool has_source(std::string_view kernel) { return kernel == "bfs" || kernel == "sssp" || kernel == "bc"; }

void check_frontier_ownerships(std::string_view kernel, const std::vector<std::string>& ownerships) {
  for (const auto& one : ownerships) {
    if (one == "auto")
      throw UsageError(
          "--ownership auto counts what pagerank would send: name hash, ranges or a partition file");
    if (plan::owns_edges(one))
      throw UsageError(fmt::format(
          "--ownership {}: {} needs owners of vertices: hash, ranges or a partition file", one, kernel));
  }
}

std::unique_ptr<FrontierCount> count_of(const CountedRun& run, const graph::GraphFile& graph) {
  if (run.kernel == "wcc") return count_components(graph);
  if (run.kernel == "scc") return count_strong_components(graph);
  if (run.kernel == "lcc") return count_triangles(graph);
  if (run.kernel == "cdlp") return count_labels(graph, run.iterations);
  if (!has_source(run.kernel)) throw UsageError(fmt::format("there is no count of {}", run.kernel));
  const auto source = graph::VertexNames(graph).find(run.source);
  if (!source) throw Error(fmt::format("--source {}: {} has no such vertex", run.source, graph.path()));
  if (run.kernel == "bc") return count_betweenness(graph, *source);
  if (run.kernel == "bfs") return count_breadth_first(graph, *source);
  return count_shortest_paths(graph, *source);
}

}  // namespace edgewire::perf
