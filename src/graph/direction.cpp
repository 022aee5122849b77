#include "graph/direction.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "base/output_file.h"
#include "graph/builder.h"
#include "graph/format.h"
#include "graph/row.h"

namespace edgewire::graph {

namespace {

constexpr std::uint64_t kRowsRead = 1 << 14;  // that a worker takes at once

void add_rows(const GraphFile& graph, Builder& builder, int workers, const Progress& progress) {
  parallel_for(
      workers, (graph.vertices() + kRowsRead - 1) / kRowsRead,
      [&](int worker, std::uint64_t piece) {
        const std::uint64_t end = std::min(graph.vertices(), (piece + 1) * kRowsRead);
        graph.verify_rows(piece * kRowsRead, end);
        for (std::uint64_t v = piece * kRowsRead; v < end; ++v) {
          const Row row{graph, VertexId(static_cast<PlainId>(v))};
          const auto targets = row.targets();
          const Weights weights = row.weights();
          for (std::size_t e = 0; e < targets.size(); ++e)
            builder.add(worker, targets[e], row.vertex, weights.empty() ? Weight() : weights.at(e));
        }
        graph.release_rows(piece * kRowsRead, end);
      },
      "turning edges", progress);
}

}  // namespace

GraphFile view(GraphFile graph, Direction direction, const std::string& folder, int workers,
               const Progress& progress) {
  if (direction == Direction::out || graph.symmetric()) return graph;
  if (graph.labelled()) {
    throw Error(fmt::format("{}: a graph with names is only followed along its edges; {}", graph.path(),
                            direction == Direction::both
                                ? "`edgewire convert --undirected` makes one with edges both ways"
                                : "for the other way convert a file with source and target exchanged"));
  }
  graph.expect_all_rows();
  const auto output = OutputFile::nameless(folder);
  BuildOptions options;
  options.weighted = graph.weighted();
  options.undirected = direction == Direction::both;
  options.workers = workers;
  Builder builder(graph.vertices(), graph.edges() * (options.undirected ? 2 : 1), options);
  add_rows(graph, builder, workers, progress);
  std::vector<std::uint64_t> original_ids;
  if (graph.has_original_ids()) {
    for (VertexId v{}; v < graph.vertices(); ++v) original_ids.push_back(graph.original_id(v));
  }
  const std::uint32_t flags = (direction == Direction::in && graph.simple() ? std::uint32_t{kSimple} : 0U) |
                              (graph.weights_doubtful() ? std::uint32_t{kDoubtfulWeights} : 0U);
  builder.write(*output, original_ids, flags, progress);
  return GraphFile::open(output->path_for_others(), graph.path());
}

}  // namespace edgewire::graph
