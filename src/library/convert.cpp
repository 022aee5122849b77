#include "edgewire/convert.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/options.h"
#include "base/output_file.h"
#include "base/parallel.h"
#include "graph/convert.h"
#include "graph/edge_sink.h"
#include "graph/format.h"
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

constexpr std::uint64_t kEdgesOfPiece = 1 << 16;  // that a worker takes at once

/// Returns the largest id, plus 1. Throws Error for the first one that is negative.
std::uint64_t ids_of(const Ids& ids, const char* which, int workers) {
  return std::visit(
      [&](const auto all) {
        std::vector<std::uint64_t> ends((all.size() + kEdgesOfPiece - 1) / kEdgesOfPiece);
        parallel_for(workers, ends.size(), [&](int, std::uint64_t piece) {
          const std::uint64_t end = std::min<std::uint64_t>(all.size(), (piece + 1) * kEdgesOfPiece);
          for (std::uint64_t e = piece * kEdgesOfPiece; e < end; ++e) {
            if (std::cmp_less(all[e], 0))
              throw Error(fmt::format("the {} of edge {} is {}: ids are from 0 on", which, e, all[e]));
            ends[piece] = std::max(ends[piece], static_cast<std::uint64_t>(all[e]) + 1);
          }
        });
        return ends.empty() ? 0 : std::ranges::max(ends);
      },
      ids);
}

/// Throws Error for the first weight that is not finite.
void expect_finite(graph::Weights weights, int workers) {
  weights.visit([&](const auto all) {
    if constexpr (std::is_floating_point_v<typename decltype(all)::value_type>)
      parallel_for(workers, (all.size() + kEdgesOfPiece - 1) / kEdgesOfPiece, [&](int, std::uint64_t piece) {
        const std::uint64_t end = std::min<std::uint64_t>(all.size(), (piece + 1) * kEdgesOfPiece);
        for (std::uint64_t e = piece * kEdgesOfPiece; e < end; ++e)
          if (!std::isfinite(all[e]))
            throw Error(fmt::format("the weight of edge {} is {}: weights are finite", e, all[e]));
      });
  });
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

GraphSummary convert_arrays(const EdgeArrays& edges, const std::string& output, const EdgeOptions& options) {
  check("output", output, options.workers);
  const auto size_of = [](const Ids& ids) {
    return std::visit([](const auto all) -> std::uint64_t { return all.size(); }, ids);
  };
  const std::uint64_t count = size_of(edges.sources);
  if (size_of(edges.targets) != count || (!edges.weights.empty() && edges.weights.size() != count))
    throw UsageError(fmt::format("{} sources, {} targets and {} weights: the arrays are of unequal length",
                                 count, size_of(edges.targets), edges.weights.size()));
  const int workers = workers_or_default(options.workers);
  const std::uint64_t ids =
      std::max(ids_of(edges.sources, "source", workers), ids_of(edges.targets, "target", workers));
  expect_finite(edges.weights, workers);
  const std::uint64_t vertices = options.vertices.value_or(ids);
  if (ids > vertices)
    throw Error(fmt::format("id {} is no vertex of a graph of {} vertices", ids - 1, vertices));
  if (vertices > graph::kMaxVertices)
    throw Error(fmt::format("{} vertices are more than the {} that are supported{}", vertices,
                            graph::kMaxVertices, graph::kMoreVertices));
  if (!options.names.empty() && options.names.size() != vertices)
    throw UsageError(fmt::format("{} names for {} vertices", options.names.size(), vertices));
  for (const std::string& name : options.names)
    if (name.empty() ||
        std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }))
      throw Error(fmt::format("the name of vertex {} is empty or has a control character",
                              &name - options.names.data()));
  OutputFile file(output);
  graph::BuildOptions build;
  build.weighted = !edges.weights.empty();
  build.simple = options.simple;
  build.undirected = options.undirected;
  build.workers = workers;
  graph::Builder builder(vertices, count, build);
  const auto add = [&](const auto sources, const auto targets) {
    parallel_for(
        workers, (count + kEdgesOfPiece - 1) / kEdgesOfPiece,
        [&](int worker, std::uint64_t piece) {
          const std::uint64_t first = piece * kEdgesOfPiece, end = std::min(count, first + kEdgesOfPiece);
          for (std::uint64_t e = first; e < end; ++e) {
            const auto source = static_cast<PlainId>(sources[e]), target = static_cast<PlainId>(targets[e]);
            if (source >= vertices || target >= vertices)  // others may write memory that was checked before
              throw Error(fmt::format("the ids of edge {} have changed while they were read", e));
            builder.add(worker, source, target, build.weighted ? edges.weights.at(e) : graph::Weight());
          }
        },
        "taking edges", options.progress);
  };
  std::visit(add, edges.sources, edges.targets);
  if (options.names.empty()) return summary_of(builder.write(file, {}, 0, options.progress));
  const std::vector<std::string_view> names(options.names.begin(), options.names.end());
  return summary_of(graph::write_labelled(builder, file, nullptr, names, 0, options.progress));
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
