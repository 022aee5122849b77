#include "edgewire/convert.h"

#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/options.h"
#include "graph/convert.h"
#include "graph/generator.h"
#include "graph/vertex_names.h"

namespace edgewire {

namespace {

GraphSummary summary_of(const graph::BuildSummary& built) {
  return {built.vertices, built.edges, built.dropped, built.bytes};
}

/// Throws UsageError where there is no name, or a number of workers that makes no sense.
void check(std::string_view what, const std::string& path, int workers) {
  if (path.empty()) throw UsageError(fmt::format("{}: it names no file", what));
  check_range("workers", workers, 0, kMaxWorkers);
}

/// Returns the format of a word, where it is one of `formats` or auto.
graph::Format format_from(const std::string& word, std::span<const graph::FormatName> formats) {
  std::string all = "auto";
  for (const auto& one : formats) {
    if (one.option == word) return one.format;
    all += fmt::format(", {}", one.option);
  }
  if (word != "auto") throw UsageError(fmt::format("format: {} is none of {}", word, all));
  return graph::Format::automatic;
}

/// Returns the formats that export_graph() writes.
std::vector<graph::FormatName> written_formats() {
  using graph::Format;
  std::vector<graph::FormatName> written;
  for (const Format one :
       {Format::el, Format::wel, Format::csv, Format::matrix_market, Format::sg, Format::wsg, Format::metis})
    written.push_back(graph::name_of(one));
  written.push_back({Format::tsv, "tsv", "a table with tabs", "tsv", true});
  return written;
}

}  // namespace

GraphSummary convert(const std::string& input, const std::string& output, const ConvertOptions& options) {
  check("input", input, options.workers);
  check("output", output, options.workers);
  graph::ConvertOptions how;
  how.format = format_from(options.format, graph::all_formats());
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
  check("output", output, workers);
  graph::Format chosen = format_from(format, written_formats());
  if (chosen == graph::Format::automatic) chosen = graph::format_of_output(output);
  if (chosen == graph::Format::ew)
    throw UsageError(
        fmt::format("{}: its name tells no format that is written; name one as `format`", output));
  graph::check_packing(output, chosen);
  graph::export_graph(graph, output, {chosen, weights, workers});
}

GraphSummary generate_kronecker(const std::string& output, int scale, std::uint64_t edge_factor,
                                const GenerateOptions& options) {
  check("output", output, options.workers);
  return summary_of(graph::generate_kronecker(output, scale, edge_factor, options));
}

GraphSummary generate_uniform(const std::string& output, std::uint64_t vertices, std::uint64_t edge_factor,
                              const GenerateOptions& options) {
  check("output", output, options.workers);
  return summary_of(graph::generate_uniform(output, vertices, edge_factor, options));
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
