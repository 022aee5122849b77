#include "graph/convert.h"

#include <fmt/core.h>

#include <filesystem>
#include <new>
#include <optional>
#include <vector>

#include "error.h"
#include "graph/format.h"
#include "graph/graph_file.h"
#include "graph/readers.h"
#include "graph/vertex_names.h"

namespace edgewire::graph {

namespace {

/// Our own format again: to make a graph simple or undirected, or to drop its weights.
BuildSummary copy_graph(const GraphFile& graph, OutputFile& output, BuildOptions options,
                        const Progress& progress) {
  const VertexNames names(graph);
  options.weighted = options.weighted && graph.weighted();
  options.undirected = options.undirected && !graph.symmetric();
  options.simple = options.simple && (!graph.simple() || options.undirected);
  Builder builder(graph.vertices(), graph.edges() * (options.undirected ? 2 : 1), options);
  constexpr std::uint64_t kRows = 1 << 14;
  parallel_for(
      options.workers, (graph.vertices() + kRows - 1) / kRows,
      [&](int worker, std::uint64_t task) {
        const std::uint64_t end = std::min(graph.vertices(), (task + 1) * kRows);
        graph.verify_rows(task * kRows, end);
        for (std::uint64_t row = task * kRows; row < end; ++row) {
          for (std::uint64_t edge = graph.offsets()[row]; edge < graph.offsets()[row + 1]; ++edge) {
            builder.add(worker, static_cast<std::uint32_t>(row), graph.targets()[edge],
                        options.weighted ? graph.weights()[edge] : 0.0F);
          }
        }
      },
      "reading", progress);
  std::vector<std::uint64_t> original_ids;
  if (graph.has_original_ids()) {
    for (std::uint64_t v = 0; v < graph.vertices(); ++v) {
      original_ids.push_back(graph.original_id(static_cast<std::uint32_t>(v)));
    }
  }
  // Simple stays simple unless edges are added; symmetric stays symmetric.
  const std::uint32_t flags = (graph.simple() && !options.undirected ? std::uint32_t{kSimple} : 0U) |
                              (graph.symmetric() ? std::uint32_t{kSymmetric} : 0U);
  if (!names.labelled()) return builder.write(output, original_ids, flags, progress);
  std::vector<std::string_view> labels;
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) labels.push_back(names.label(v));
  return write_labelled(builder, output, labels, flags, progress);
}

void skip_byte_order_mark(Input& input) {
  if (input.peek().starts_with(kByteOrderMark)) input.skip(kByteOrderMark.size());
}

BuildSummary read(Format format, Input& input, const ConvertOptions& wanted, OutputFile& output,
                  const BuildOptions& options, const Progress& progress) {
  std::optional<Input> lone;
  if (!wanted.vertices.empty()) {
    lone.emplace(wanted.vertices);
    skip_byte_order_mark(*lone);
  }
  if (name_of(format).text) skip_byte_order_mark(input);
  const Conversion conversion = {input,    lone ? &*lone : nullptr, output,       options,
                                 progress, wanted.columns,          wanted.labels};
  switch (format) {
    case Format::matrix_market:
      return read_matrix_market(conversion);
    case Format::csv:
      return read_table(conversion);
    case Format::metis:
      return read_metis(conversion);
    case Format::dimacs:
      return read_dimacs(conversion);
    case Format::el:
    case Format::wel:
      return read_gap_text(conversion, format == Format::wel);
    case Format::sg:
    case Format::wsg:
      return read_gap_binary(conversion, format == Format::wsg);
    case Format::u32_pairs:
      return read_u32_pairs(conversion);
    default:
      return wanted.labels ? read_labelled(conversion) : read_snap(conversion);
  }
}

}  // namespace

BuildSummary convert(const std::string& input, const std::string& output, const ConvertOptions& options,
                     const Progress& progress) {
  Input file(input);
  const Format format = choose_format(file, options.format, !options.columns.empty(), options.labels);
  if (!options.vertices.empty() && format != Format::snap) {
    throw UsageError("--vertices: only edge lists (snap) leave vertices without edges out");
  }
  if (options.labels && format != Format::snap && format != Format::csv)
    throw UsageError("--labels: only edge lists (snap) and tables (with --columns) have names for ids");
  std::error_code ignored;
  if (std::filesystem::equivalent(input, output, ignored)) {
    throw Error(fmt::format("{}: input and output are the same file", input));
  }
  OutputFile graph(output);
  const BuildOptions build = {options.weights, options.simple, options.undirected,
                              workers_or_default(options.workers)};
  try {
    if (format == Format::ew) {
      if (file.streamed())
        throw Error(fmt::format("{}: an .ew file is mapped, so it must be a plain file", file.path()));
      return copy_graph(GraphFile::open(input), graph, build, progress);
    }
    return read(format, file, options, graph, build, progress);
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}: not enough memory to convert it{}", file.path(), limit_to_raise(ENOMEM)));
  }
}

}  // namespace edgewire::graph
