#include "edgewire/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/control_group.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/output_folder.h"
#include "base/parallel.h"
#include "graph/convert.h"
#include "graph/file/format.h"
#include "graph/file/vertex_names.h"
#include "graph/generator.h"
#include "graph/read/edge_sink.h"
#include "options/files.h"
#include "options/jobs.h"

namespace edgewire {

namespace {

GraphSummary summary_of(const graph::BuildSummary& built) {
  return {built.vertices, built.edges, built.dropped, built.bytes};
}

/// Throws UsageError where there is no name, or a number of workers that makes no sense.
void check(std::string_view what, const std::string& path, int workers) {
  if (path.empty()) throw UsageError(fmt::format("{}: it names no file", what));
  if (workers != 0) check_range(opt::workers, workers);
}

/// Returns the format of a word, where it is one of `formats` or auto.
graph::Format format_from(const std::string& word, std::span<const graph::FormatName> formats) {
  std::string all = "auto";
  for (const auto& one : formats) {
    if (one.option == word) return one.format;
    all += fmt::format(", {}", one.option);
  }
  if (word != "auto") throw UsageError(fmt::format("{} is none of {}", opt::format(word), all));
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

/// Calls take(worker, first, end) for pieces of so many edges.
template <class Take>
void each_piece(std::uint64_t edges, int workers, const Take& take, const char* step = nullptr,
                const Progress& progress = {}) {
  parallel_for(workers, (edges + kEdgesOfPiece - 1) / kEdgesOfPiece, step, progress,
               [&](int worker, std::uint64_t piece) {
                 take(worker, piece * kEdgesOfPiece, std::min(edges, (piece + 1) * kEdgesOfPiece));
               });
}

/// Returns the largest id, 0 where there is none. Throws Error for the first one that is negative.
std::uint64_t largest_of(const Ids& ids, const char* which, int workers) {
  return std::visit(
      [&](const auto all) {
        std::vector<std::uint64_t> largest(static_cast<std::size_t>(workers));
        each_piece(all.size(), workers, [&](int worker, std::uint64_t first, std::uint64_t end) {
          std::uint64_t most = 0;
          for (std::uint64_t e = first; e < end; ++e) {
            if (std::cmp_less(all[e], 0))
              throw Error(fmt::format("the {} of edge {} is {}: ids are from 0 on", which, e, all[e]));
            most = std::max(most, static_cast<std::uint64_t>(all[e]));
          }
          std::uint64_t& mine = largest[static_cast<std::size_t>(worker)];
          mine = std::max(mine, most);
        });
        return std::ranges::max(largest);
      },
      ids);
}

/// Throws Error for the first weight that is not finite.
void expect_finite(graph::Weights weights, int workers) {
  weights.visit([&](const auto all) {
    if constexpr (std::is_floating_point_v<typename decltype(all)::value_type>)
      each_piece(all.size(), workers, [&](int, std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t e = first; e < end; ++e)
          if (!std::isfinite(all[e]))
            throw Error(fmt::format("the weight of edge {} is {}: weights are finite", e, all[e]));
      });
  });
}

/// Others may write memory that was checked before.
[[noreturn]] void refuse_changes(std::uint64_t edge) {
  throw Error(fmt::format("the ids of edge {} have changed while they were read", edge));
}

/// Returns the number of edges. Throws UsageError where the arrays do not go together.
std::uint64_t edges_in(const EdgeArrays& edges) {
  const auto size_of = [](const Ids& ids) {
    return std::visit([](const auto all) -> std::uint64_t { return all.size(); }, ids);
  };
  const std::uint64_t count = size_of(edges.sources);
  if (size_of(edges.targets) != count || (!edges.weights.empty() && edges.weights.size() != count))
    throw UsageError(fmt::format("{} sources, {} targets and {} weights: the arrays are of unequal length",
                                 count, size_of(edges.targets), edges.weights.size()));
  return count;
}

/// Throws Error or UsageError where these are no names of so many vertices.
void check_names(const std::vector<std::string>& names, std::uint64_t vertices) {
  if (!names.empty() && names.size() != vertices)
    throw UsageError(fmt::format("{} names for {} vertices", names.size(), vertices));
  for (const std::string& name : names)
    if (name.empty() ||
        std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }))
      throw Error(
          fmt::format("the name of vertex {} is empty or has a control character", &name - names.data()));
}

/// Returns the number of vertices that are all ids up to the largest. Throws Error where they cannot be.
std::uint64_t vertices_for(std::uint64_t edges, std::uint64_t largest, const EdgeOptions& options,
                           bool weighted) {
  constexpr std::uint64_t kEdgeBytes = 9, kWeightedEdgeBytes = 13;  // in a graph::Builder
  const auto all_ids = [&] {
    return options.vertices
               ? std::string("the graph")
               : fmt::format("vertices are all ids up to {} ({} keeps those that occur)", largest,
                             options::in_words_of_face("`dense`", "`dense`", "from_edges()"));
  };
  if (edges > 0 && options.vertices && largest >= *options.vertices)
    throw Error(fmt::format("id {} is no vertex of a graph of {} vertices", largest, *options.vertices));
  const std::uint64_t vertices = options.vertices.value_or(edges == 0 ? 0 : largest + 1);  // 0 for 2^64
  if (vertices > graph::kMaxVertices || (vertices == 0 && edges > 0))
    throw Error(fmt::format("{}: more than the {} that are supported{}", all_ids(), graph::kMaxVertices,
                            graph::kMoreVertices));
  const std::uint64_t stored = edges * (options.undirected ? 2 : 1);
  require_memory(all_ids(), vertices * 8 + stored * (weighted ? kWeightedEdgeBytes : kEdgeBytes));
  return vertices;
}

/// Writes a graph whose vertices are the ids that occur, up to `largest`. Memory: see graph::MemorySink.
graph::BuildSummary write_dense(const EdgeArrays& edges, std::uint64_t count, std::uint64_t largest,
                                OutputFile& file, const graph::BuildOptions& build,
                                const Progress& progress) {
  graph::MemorySink sink(file);
  sink.start({.numbering = graph::GraphShape::Numbering::dense, .options = build, .name = "the graph"}, {});
  const auto add = [&]<class Id>(Id, const auto sources, const auto targets, const auto& give) {
    std::vector<std::vector<Id>> memory(static_cast<std::size_t>(build.workers));
    each_piece(
        count, build.workers,
        [&](int worker, std::uint64_t first, std::uint64_t end) {
          std::vector<Id>& ids = memory[static_cast<std::size_t>(worker)];
          ids.clear();
          for (std::uint64_t e = first; e < end; ++e) {
            const auto source = static_cast<std::uint64_t>(sources[e]);
            const auto target = static_cast<std::uint64_t>(targets[e]);
            if (source > largest || target > largest) refuse_changes(e);
            ids.push_back(static_cast<Id>(source));
            ids.push_back(static_cast<Id>(target));
          }
          give(worker, std::span<const Id>(ids),
               build.weighted ? edges.weights.subspan(first, end - first) : graph::Weights());
        },
        "taking edges", progress);
  };
  std::visit(
      [&](const auto sources, const auto targets) {
        if (largest <= std::numeric_limits<std::uint32_t>::max())
          add(std::uint32_t{}, sources, targets,
              [&](int worker, auto ids, auto weights) { sink.add_narrow(worker, ids, weights); });
        else
          add(std::uint64_t{}, sources, targets,
              [&](int worker, auto ids, auto weights) { sink.add(worker, ids, weights); });
      },
      edges.sources, edges.targets);
  return sink.write(0, progress);
}

/// Writes a graph whose vertices have the ids from 0 on.
graph::BuildSummary write_all(const EdgeArrays& edges, std::uint64_t count, std::uint64_t vertices,
                              OutputFile& file, const graph::BuildOptions& build,
                              const EdgeOptions& options) {
  graph::Builder builder(vertices, count, build);
  const auto add = [&](const auto sources, const auto targets) {
    each_piece(
        count, build.workers,
        [&](int worker, std::uint64_t first, std::uint64_t end) {
          for (std::uint64_t e = first; e < end; ++e) {
            const auto source = static_cast<PlainId>(sources[e]), target = static_cast<PlainId>(targets[e]);
            if (source >= vertices || target >= vertices) refuse_changes(e);
            builder.add(worker, source, target, build.weighted ? edges.weights.at(e) : graph::Weight());
          }
        },
        "taking edges", options.progress);
  };
  std::visit(add, edges.sources, edges.targets);
  if (options.names.empty()) return builder.write(file, {}, 0, options.progress);
  const std::vector<std::string_view> names(options.names.begin(), options.names.end());
  return graph::write_labelled(builder, file, nullptr, names, 0, options.progress);
}

/// Checks the edges, and calls to_output() for the file that gets their graph.
template <class ToOutput>
graph::BuildSummary write_edges(const EdgeArrays& edges, const EdgeOptions& options,
                                const ToOutput& to_output) {
  if (options.workers != 0) check_range(opt::workers, options.workers);
  if (options.dense && (options.vertices || !options.names.empty()))
    throw UsageError("`dense`: the vertices are the ids that occur, so leave `vertices` and `names` out");
  const std::uint64_t count = edges_in(edges);
  graph::BuildOptions build;
  build.weighted = !edges.weights.empty();
  build.simple = options.simple;
  build.undirected = options.undirected;
  build.workers = workers_or_default(options.workers);
  const std::uint64_t largest = std::max(largest_of(edges.sources, "source", build.workers),
                                         largest_of(edges.targets, "target", build.workers));
  expect_finite(edges.weights, build.workers);
  const std::uint64_t vertices = options.dense ? 0 : vertices_for(count, largest, options, build.weighted);
  check_names(options.names, vertices);
  OutputFile& file = to_output();
  return options.dense ? write_dense(edges, count, largest, file, build, options.progress)
                       : write_all(edges, count, vertices, file, build, options);
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
  how.note = options.note;
  return summary_of(graph::convert(input, output, how, options.progress));
}

GraphSummary convert_arrays(const EdgeArrays& edges, const std::string& output, const EdgeOptions& options) {
  check("output", output, options.workers);
  std::optional<OutputFile> file;
  return summary_of(write_edges(edges, options, [&]() -> OutputFile& { return file.emplace(output); }));
}

Graph Graph::from_edges(const Ids& sources, const Ids& targets, graph::Weights weights,
                        const EdgeOptions& options) {
  if (!options.names.empty())
    throw UsageError("`names` go to a table beside a file: convert_arrays() makes one");
  const auto file = OutputFile::nameless(temporary_folder());
  write_edges({sources, targets, weights}, options, [&]() -> OutputFile& { return *file; });
  return open(file->path_for_others(), "the graph");
}

void export_graph(const Graph& graph, const std::string& output, const std::string& format, bool weights,
                  int workers) {
  check("output", output, workers);
  graph::Format chosen = format_from(format, written_formats());
  if (chosen == graph::Format::automatic) chosen = graph::format_of_output(output);
  if (chosen == graph::Format::ew)
    throw UsageError(
        fmt::format("{}: its name tells no format that is written; {}", output,
                    options::in_words_of_face("name one as `format`", "", "it may end in .ew, .el or .csv")));
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

std::vector<std::string> names_of(const Graph& graph, std::span<const VertexId> vertices) {
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
