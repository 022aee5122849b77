#include "graph/convert.h"

#include <fmt/core.h>

#include <deque>
#include <filesystem>
#include <new>
#include <optional>
#include <vector>

#include "base/error.h"
#include "graph/format.h"
#include "graph/graph_file.h"
#include "graph/join_parts.h"
#include "graph/readers.h"
#include "graph/vertex_names.h"

namespace edgewire::graph {

namespace {

/// Our own format again: to make a graph simple or undirected, or to drop its weights.
BuildSummary copy_graph(const GraphFile& graph, OutputFile& output, OutputFile* table, BuildOptions options,
                        const Progress& progress) {
  graph.expect_all_rows();
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
            builder.add(worker, static_cast<PlainId>(row), graph.targets()[edge],
                        options.weighted ? graph.weights().at(edge) : Weight());
          }
        }
      },
      "reading", progress);
  std::vector<std::uint64_t> original_ids;
  if (graph.has_original_ids()) {
    for (VertexId v{}; v < graph.vertices(); ++v) {
      original_ids.push_back(graph.original_id(v));
    }
  }
  // Simple stays simple unless edges are added; symmetric stays symmetric.
  const std::uint32_t flags =
      (graph.simple() && !options.undirected ? std::uint32_t{kSimple} : 0U) |
      (graph.symmetric() ? std::uint32_t{kSymmetric} : 0U) |
      (options.weighted && graph.weights_doubtful() ? std::uint32_t{kDoubtfulWeights} : 0U);
  if (!names.labelled()) return builder.write(output, original_ids, flags, progress);
  std::vector<std::string_view> labels;
  for (VertexId v{}; v < graph.vertices(); ++v) labels.push_back(names.label(v));
  return write_labelled(builder, output, table, labels, flags, progress);
}

void skip_byte_order_mark(Input& input) {
  if (input.peek().starts_with(kByteOrderMark)) input.skip(kByteOrderMark.size());
}

/// Further files must be of the same format, one whose files can be read one behind the other.
void check_several(Format format, const ConvertOptions& wanted, std::deque<Input>& others) {
  if (others.empty()) return;
  const bool lists =
      format == Format::snap || format == Format::el || format == Format::wel || format == Format::u32_pairs;
  if (!lists || wanted.labels)
    throw UsageError(
        "several inputs: only edge lists of numbers (snap, el, wel, u32pairs) are read from several files");
  for (Input& other : others)
    if (choose_format(other, wanted.format, !wanted.columns.empty(), false) != format)
      throw Error(fmt::format("{}: it is not in the format of the first input; --format says which it is",
                              other.path()));
}

BuildSummary read(Format format, const Conversion& conversion) {
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
    case Format::webgraph:
      return read_webgraph(conversion);
    default:
      return conversion.labels ? read_labelled(conversion) : read_snap(conversion);
  }
}

BuildSummary read(Format format, Input& input, const ConvertOptions& wanted, EdgeSink& edges,
                  OutputFile* output, const BuildOptions& options, const Progress& progress) {
  std::optional<Input> lone;
  if (!wanted.vertices.empty()) {
    lone.emplace(wanted.vertices);
    skip_byte_order_mark(*lone);
  }
  std::deque<Input> others;
  std::vector<Input*> inputs = {&input};
  for (const std::string& path : wanted.more) inputs.push_back(&others.emplace_back(path));
  for (Input* const one : inputs)
    if (name_of(format).text) skip_byte_order_mark(*one);
  check_several(format, wanted, others);
  RoundedWeights rounded(inputs);
  const Conversion conversion = {input,       inputs,   lone ? &*lone : nullptr, edges,   output,
                                 options,     progress, wanted.columns,          rounded, wanted.labels,
                                 wanted.table};
  const BuildSummary summary = read(format, conversion);
  rounded.tell(edges, summary.weights, options.note);
  return summary;
}

/// Throws Error or UsageError where format and options do not fit.
Format format_to_read(Input& file, const ConvertOptions& options) {
  const Format format = choose_format(file, options.format, !options.columns.empty(), options.labels);
  if (!options.vertices.empty() && format != Format::snap) {
    throw UsageError("--vertices: only edge lists (snap) leave vertices without edges out");
  }
  if (options.labels && format != Format::snap && format != Format::csv)
    throw UsageError("--labels: only edge lists (snap) and tables (with --columns) have names for ids");
  if (options.labels && options.keep_ids) throw UsageError("--keep-ids: with --labels ids are names");
  return format;
}

BuildOptions build_options(const Input& file, const ConvertOptions& options) {
  return {options.weights, options.simple,     options.undirected,
          options.workers, options.keep_ids,   options.allow_empty ? std::string() : file.path(),
          options.note,    WeightColumn::named};
}

/// Whether the input is a graph in parts, which is opened by its folder's name.
bool is_in_parts(const std::string& input, const ConvertOptions& options) {
  return is_folder(input) && (options.format == Format::automatic || options.format == Format::ew);
}

BuildSummary copy_parts(const std::string& folder, OutputFile& output, const ConvertOptions& options,
                        const Progress& progress) {
  if (!options.more.empty()) throw UsageError("several inputs: a graph in parts is read alone");
  if (!options.vertices.empty() || options.labels || !options.columns.empty())
    throw UsageError(fmt::format(
        "{}: a graph in parts (.ew) is read as it is: leave --vertices, --labels and --columns out", folder));
  const GraphFile graph = GraphFile::open(folder);
  BuildOptions build{options.weights, options.simple, options.undirected,
                     workers_or_default(options.workers)};
  if (!options.allow_empty) build.must_hold_edges = folder;
  const bool as_it_is = !(options.simple && !graph.simple()) && !(options.undirected && !graph.symmetric()) &&
                        (options.weights || !graph.weighted());
  return as_it_is ? join_parts(graph, output, build, progress)
                  : copy_graph(graph, output, options.table, build, progress);
}

void refuse_same_file(const std::string& input, const ConvertOptions& options, const std::string& output) {
  auto inputs = options.more;
  inputs.push_back(input);
  for (const std::string& one : inputs) {
    std::error_code ignored;
    if (std::filesystem::equivalent(one, output, ignored))
      throw Error(fmt::format("{}: input and output are the same file", one));
  }
}

}  // namespace

BuildSummary convert(const std::string& input, const std::string& output, const ConvertOptions& options,
                     const Progress& progress) {
  OutputFile graph(output);
  return convert(input, graph, options, progress);
}

BuildSummary convert(const std::string& input, OutputFile& output, const ConvertOptions& options,
                     const Progress& progress) {
  refuse_same_file(input, options, output.path());
  if (is_in_parts(input, options)) return copy_parts(input, output, options, progress);
  Input file(input);
  const Format format = format_to_read(file, options);
  BuildOptions build = build_options(file, options);
  build.workers = workers_or_default(options.workers);
  try {
    if (format == Format::ew) {
      if (!options.more.empty()) throw UsageError("several inputs: an .ew file is read alone");
      if (file.streamed())
        throw Error(fmt::format("{}: an .ew file is mapped, so it must be a plain file", file.path()));
      return copy_graph(GraphFile::open(input), output, options.table, build, progress);
    }
    MemorySink edges(output);
    return read(format, file, options, edges, &output, build, progress);
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}: not enough memory to convert it{}", file.path(), limit_to_raise(ENOMEM)));
  }
}

BuildSummary convert_to(EdgeSink& edges, const std::string& input, const std::string& output,
                        const ConvertOptions& options, const Progress& progress) {
  if (is_in_parts(input, options))
    throw Error(
        fmt::format("{}: a graph in parts is copied in little memory anyway: leave --memory, -p and "
                    "--parts out",
                    input));
  Input file(input);
  const Format format = format_to_read(file, options);
  refuse_same_file(input, options, output);
  if (format == Format::ew || format == Format::metis || options.labels)
    throw Error(fmt::format("{}: {} read in memory: leave --memory, -p and --parts out", file.path(),
                            options.labels         ? "names are"
                            : format == Format::ew ? "an .ew file is"
                                                   : "METIS is"));
  return read(format, file, options, edges, nullptr, build_options(file, options), progress);
}

}  // namespace edgewire::graph
