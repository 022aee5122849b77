// The rows of a graph once more, as they are or from target to source.
#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/output_file.h"
#include "base/output_folder.h"
#include "graph/convert.h"
#include "graph/file/format.h"
#include "options/files.h"

namespace edgewire::graph {

void add_rows(const Graph& graph, Builder& builder, bool turned, const char* step, const Progress& progress) {
  constexpr std::uint64_t kRows = 1 << 14;  // rows that a worker takes at once
  const std::uint64_t pieces = (graph.vertices() + kRows - 1) / kRows;
  parallel_for(builder.options().workers, pieces, step, progress, [&](int worker, std::uint64_t piece) {
    const std::uint64_t end = std::min(graph.vertices(), (piece + 1) * kRows);
    graph.verify_rows(piece * kRows, end);
    for (std::uint64_t v = piece * kRows; v < end; ++v) {
      const auto source = static_cast<PlainId>(v);
      for (std::uint64_t edge = graph.offsets()[v]; edge < graph.offsets()[v + 1]; ++edge) {
        const PlainId target = graph.targets()[edge];
        const Weight weight = builder.options().weighted ? graph.weights().at(edge) : Weight();
        turned ? builder.add(worker, target, source, weight) : builder.add(worker, source, target, weight);
      }
    }
    graph.release_rows(piece * kRows, end);
  });
}

std::vector<std::uint64_t> original_ids(const Graph& graph) {
  std::vector<std::uint64_t> ids;
  for (VertexId v{}; graph.has_original_ids() && v < graph.vertices(); ++v)
    ids.push_back(graph.original_id(v));
  return ids;
}

Graph view(Graph graph, Direction direction, const std::string& folder, int workers,
           const Progress& progress) {
  if (direction == Direction::out || graph.symmetric()) return graph;
  if (graph.labelled())
    throw Error(
        fmt::format("{}: a graph with names is only followed along its edges; {}", graph.path(),
                    direction == Direction::both
                        ? options::conversion_with(opt::undirected.said()) + " makes one with edges both ways"
                        : "for the other way convert a file with source and target exchanged"));
  graph.expect_all_rows();
  const auto output = OutputFile::nameless(folder.empty() ? temporary_folder() : folder);
  BuildOptions options;
  options.weighted = graph.weighted();
  options.undirected = direction == Direction::both;
  options.workers = workers_or_default(workers);
  Builder builder(graph.vertices(), graph.edges() * (options.undirected ? 2 : 1), options);
  add_rows(graph, builder, true, "turning edges", progress);
  const std::uint32_t flags = (direction == Direction::in && graph.simple() ? std::uint32_t{kSimple} : 0U) |
                              (graph.weights_doubtful() ? std::uint32_t{kDoubtfulWeights} : 0U);
  builder.write(*output, original_ids(graph), flags, progress);
  auto turned = Graph::open(output->path_for_others(), graph.path());
  turned.set_direction(direction);
  return turned;
}

}  // namespace edgewire::graph
