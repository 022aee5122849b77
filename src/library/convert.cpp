#include "edgewire/convert.h"

#include <fmt/format.h>

#include "base/error.h"
#include "graph/convert.h"
#include "graph/generator.h"
#include "graph/vertex_names.h"

namespace edgewire {

namespace {

GraphSummary summary_of(const graph::BuildSummary& built) {
  return {built.vertices, built.edges, built.dropped, built.bytes};
}

graph::Format format_from(const std::string& word) {
  if (word == "auto") return graph::Format::automatic;
  if (word == "tsv") return graph::Format::tsv;
  std::string all = "auto, tsv";
  for (const auto& one : graph::all_formats()) {
    if (one.option == word) return one.format;
    all += fmt::format(", {}", one.option);
  }
  throw UsageError(fmt::format("format: {} is none of {}", word, all));
}

graph::GenerateOptions generate_options(const GenerateOptions& options) {
  return {options.seed, options.weighted, options.simple, options.undirected, options.workers};
}

}  // namespace

GraphSummary convert(const std::string& input, const std::string& output, const ConvertOptions& options) {
  graph::ConvertOptions how;
  how.format = format_from(options.format);
  how.weights = options.weights;
  how.simple = options.simple;
  how.undirected = options.undirected;
  how.keep_ids = options.keep_ids;
  how.labels = options.labels;
  how.allow_empty = options.allow_empty;
  how.columns = options.columns;
  how.vertices = options.vertices;
  how.more = options.more;
  how.workers = options.workers;
  return summary_of(graph::convert(input, output, how, options.progress));
}

void export_graph(const graph::GraphFile& graph, const std::string& output, const std::string& format,
                  bool weights, int workers) {
  graph::Format chosen = format_from(format);
  if (chosen == graph::Format::automatic) chosen = graph::format_of_output(output);
  graph::check_packing(output, chosen);
  graph::export_graph(graph, output, {chosen, weights, workers});
}

GraphSummary generate_kronecker(const std::string& output, int scale, std::uint64_t edge_factor,
                                const GenerateOptions& options) {
  return summary_of(
      graph::generate_kronecker(output, scale, edge_factor, generate_options(options), options.progress));
}

GraphSummary generate_uniform(const std::string& output, std::uint64_t vertices, std::uint64_t edge_factor,
                              const GenerateOptions& options) {
  return summary_of(
      graph::generate_uniform(output, vertices, edge_factor, generate_options(options), options.progress));
}

std::vector<std::string> names_of(const graph::GraphFile& graph, std::span<const VertexId> vertices) {
  const graph::VertexNames names(graph);
  std::vector<std::string> all;
  for (const VertexId vertex : vertices) {
    if (vertex >= graph.vertices())
      throw UsageError(fmt::format("{} is no vertex of {}, which has {}", PlainId{vertex}, graph.path(),
                                   graph.vertices()));
    all.push_back(names(vertex));
  }
  return all;
}

}  // namespace edgewire
