#include "graph/convert.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>
#include <new>

#include "base/error.h"
#include "graph/file/format.h"
#include "graph/file/sections.h"
#include "graph/file/vertex_names.h"
#include "graph/read/edge_lines.h"
#include "graph/read/first_lines.h"
#include "graph/read/formats.h"
#include "graph/read/list_head.h"
#include "graph/read/readers.h"
#include "graph/write/compress.h"
#include "graph/write/writers.h"
#include "options/files.h"
#include "options/kernels.h"

namespace edgewire::graph {

namespace {

/// Copies a graph of our own format, to make a graph simple or undirected, or to drop its weights.
BuildSummary copy_graph(const Graph& graph, OutputFile& output, OutputFile* table, BuildOptions options,
                        const Progress& progress) {
  graph.expect_all_rows();
  const VertexNames names(graph);
  options.weighted = options.weighted && graph.weighted();
  options.undirected = options.undirected && !graph.symmetric();
  options.simple = options.simple && (!graph.simple() || options.undirected);
  Builder builder(graph.vertices(), graph.edges() * (options.undirected ? 2 : 1), options);
  add_rows(graph, builder, false, "reading", progress);
  // A simple graph stays simple unless edges are added; a symmetric one stays symmetric.
  const std::uint32_t flags =
      (graph.simple() && !options.undirected ? std::uint32_t{kSimple} : 0U) |
      (graph.symmetric() ? std::uint32_t{kSymmetric} : 0U) |
      (options.weighted && graph.weights_doubtful() ? std::uint32_t{kDoubtfulWeights} : 0U);
  if (!names.labelled()) return builder.write(output, original_ids(graph), flags, progress);
  std::vector<std::string_view> labels;
  for (VertexId v{}; v < graph.vertices(); ++v) labels.push_back(names.label(v));
  return write_labelled(builder, output, table, labels, flags, progress);
}

/// Checks that further files have the same format, one whose files can be read one behind the other.
void check_several(Format format, const ConvertOptions& wanted, std::deque<Input>& others) {
  if (others.empty()) return;
  const bool lists =
      format == Format::snap || format == Format::el || format == Format::wel || format == Format::u32_pairs;
  if (!lists || wanted.labels)
    throw UsageError(
        "several inputs: only edge lists of numbers (snap, el, wel, u32pairs) are read from several files");
  for (Input& other : others)
    if (choose_format(other, wanted.format, false, false) != format)
      throw Error(fmt::format("{}: it is not in the format of the first input; {} says which one it has",
                              other.path(), opt::format));
}

BuildSummary read(Format format, const Conversion& conversion) {
  if (format == Format::matrix_market) return read_matrix_market(conversion);
  if (format == Format::csv) return read_table(conversion);
  if (format == Format::metis) return read_metis(conversion);
  if (format == Format::dimacs) return read_dimacs(conversion);
  if (format == Format::el || format == Format::wel) return read_gap_text(conversion, format == Format::wel);
  if (format == Format::sg || format == Format::wsg)
    return read_gap_binary(conversion, format == Format::wsg);
  if (format == Format::u32_pairs) return read_u32_pairs(conversion);
  if (format == Format::webgraph) return read_webgraph(conversion);
  return conversion.wanted.labels ? read_labelled(conversion) : read_snap(conversion);
}

struct Plan {
  Format format;
  FirstLines first{};     ///< first lines of edge lists and tables
  ConvertOptions wanted;  ///< options; `labels`: ids are names
};

BuildSummary read(const Plan& plan, Input& input, EdgeSink& edges, OutputFile* output,
                  const BuildOptions& options, const Progress& progress) {
  const Format format = plan.format;
  const ConvertOptions& wanted = plan.wanted;
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
  const bool list =
      format == Format::snap || format == Format::csv || format == Format::el || format == Format::wel;
  const ListHead head = list ? head_of(inputs) : ListHead();
  std::optional<HeadedSink> headed;
  if (head.edges != ListHead::Edges::directed || !head.counts.empty()) headed.emplace(edges, head, wanted);
  const Conversion conversion = {input,
                                 inputs,
                                 lone ? &*lone : nullptr,
                                 headed ? *headed : edges,
                                 output,
                                 options,
                                 progress,
                                 wanted,
                                 rounded,
                                 head,
                                 headed ? &*headed : nullptr,
                                 plan.first};
  const BuildSummary summary = read(format, conversion);
  rounded.tell(edges, summary.weights, options.note);
  if (headed) headed->tell(wanted.labels);
  return summary;
}

/// Returns whether --columns chooses the first fields of an edge list, and the input is read as one: it would
/// be without --columns, or as a table it could not be read.
bool chooses_first_fields(Input& file, const ConvertOptions& options) {
  if (!chosen_columns(options.columns).are_first_fields()) return false;
  if (!options.vertices.empty() || !options.more.empty() || options.format == Format::snap) return true;
  Piece start;
  start.text = file.peek();
  Input* const input = &file;
  return !options.labels && (first_edge(start).fields == 3 || head_of(std::span(&input, 1)).timed);
}

/// Throws Error or UsageError where format and options do not fit.
Plan plan_for(Input& file, const ConvertOptions& options) {
  const bool tables = !options.columns.empty();
  const bool first = tables && chooses_first_fields(file, options);
  Format format = choose_format(file, options.format, tables && !first, options.labels);
  if (first && format != Format::snap) format = choose_format(file, options.format, true, options.labels);
  Plan plan = {.format = format, .wanted = options};
  if (format == Format::snap || format == Format::csv) {
    plan.first = first_lines(file, options);
    plan.wanted.labels = plan.first.names;
    if (plan.first.names) plan.format = plan.first.table || (tables && !first) ? Format::csv : Format::snap;
  }
  if (!options.vertices.empty() && plan.format != Format::snap)
    throw UsageError(
        fmt::format("{}: only edge lists (snap) leave vertices without edges out", opt::vertices));
  if (options.labels && plan.format != Format::snap && plan.format != Format::csv)
    throw UsageError(fmt::format("{}: only edge lists (snap) and tables have names for ids", opt::labels));
  if (plan.wanted.labels && options.keep_ids)
    throw UsageError(
        fmt::format("{}: ids of {} are names, which have no numbers to keep", opt::keep_ids, file.path()));
  return plan;
}

bool in_memory(const Plan& plan) {
  return plan.format == Format::ew || plan.format == Format::metis || plan.wanted.labels;
}

/// Returns the options of a build. `name`: what messages call the input.
BuildOptions build_options(const std::string& name, const ConvertOptions& options) {
  return {options.weights, options.simple,   options.undirected,
          options.workers, options.keep_ids, options.allow_empty ? std::string() : name,
          options.note};
}

/// Returns whether the input is a graph in parts, which is opened by its folder's name.
bool is_in_parts(const std::string& input, const ConvertOptions& options) {
  return is_folder(input) && (options.format == Format::automatic || options.format == Format::ew);
}

/// Checks the rows that hold edges [first, last). Their offsets have been checked.
void verify_edges(const Graph& graph, std::uint64_t first, std::uint64_t last) {
  const auto offsets = graph.offsets();
  const auto begin = std::ranges::upper_bound(offsets, first) - offsets.begin() - 1;
  const auto end = std::ranges::lower_bound(offsets, last) - offsets.begin();
  graph.verify_rows(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end));
}

/// Writes the graph as it is: with the same bytes as a conversion to one file. Memory: a block for each
/// worker. Throws Error where a part is not here, or damaged.
BuildSummary join_parts(const Graph& graph, OutputFile& output, const BuildOptions& options,
                        const Progress& progress) {
  graph.expect_all_rows();
  require_edges(options, graph.edges());
  graph.verify_offsets(0, graph.vertices());
  Header header = lay_out(graph.vertices(), graph.edges(), graph.flags());
  const auto fill = [&](std::uint32_t section, std::uint64_t first, std::uint64_t count, std::byte* to) {
    const auto put = [&](const auto& all) {
      std::memcpy(to, all.data() + first, count * sizeof *all.data());
    };
    if (section == kTargets || section == kWeights) verify_edges(graph, first, first + count);
    if (section == kOffsets) put(graph.offsets());
    if (section == kTargets) put(graph.targets());
    if (section == kWeights) graph.weights().visit(put);
    for (std::uint64_t i = 0; section == kIds && i < count; ++i) {
      const std::uint64_t id = graph.original_id(VertexId(static_cast<PlainId>(first + i)));
      std::memcpy(to + i * sizeof id, &id, sizeof id);
    }
  };
  write_sections(output, header, options.workers, fill, "joining parts", progress);
  refuse_changed_files();
  output.commit();
  return {graph.vertices(),        graph.edges(), 0,     file_bytes(header),
          header.checksum,         false,         false, graph.weights().type(),
          graph.weights_doubtful()};
}

BuildSummary copy_parts(const std::string& folder, OutputFile& output, const ConvertOptions& options,
                        const Progress& progress) {
  if (!options.more.empty()) throw UsageError("several inputs: a graph in parts is read alone");
  if (!options.vertices.empty() || options.labels || !options.columns.empty())
    throw UsageError(fmt::format("{}: a graph in parts (.ew) is read as it is: leave {}, {} and {} out",
                                 folder, opt::vertices, opt::labels, opt::columns));
  const Graph graph = Graph::open(folder);
  BuildOptions build = build_options(folder, options);
  build.workers = workers_or_default(options.workers);
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
  try {
    const Plan plan = plan_for(file, options);
    BuildOptions build = build_options(file.path(), options);
    build.workers = workers_or_default(options.workers);
    if (plan.format == Format::ew) {
      if (!options.more.empty()) throw UsageError("several inputs: an .ew file is read alone");
      if (file.streamed())
        throw Error(fmt::format("{}: an .ew file is mapped, so it must be a plain file", file.path()));
      return copy_graph(Graph::open(input), output, options.table, build, progress);
    }
    MemorySink edges(output);
    return read(plan, file, edges, &output, build, progress);
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}: not enough memory to convert it{}", file.path(), limit_to_raise(ENOMEM)));
  }
}

BuildSummary convert_to(EdgeSink& edges, const std::string& input, const std::string& output,
                        const ConvertOptions& options, const Progress& progress) {
  if (is_in_parts(input, options))
    throw Error(fmt::format("{}: a graph in parts is copied in little memory anyway: leave {}, -p and {} out",
                            input, opt::memory, opt::parts));
  Input file(input);
  const Plan plan = plan_for(file, options);
  refuse_same_file(input, options, output);
  if (in_memory(plan))
    throw Error(fmt::format("{}: {} read in memory: leave {}, -p and {} out", file.path(),
                            plan.wanted.labels          ? "its ids are names, which are"
                            : plan.format == Format::ew ? "an .ew file is"
                                                        : "METIS is",
                            opt::memory, opt::parts));
  return read(plan, file, edges, nullptr, build_options(file.path(), options), progress);
}

bool reads_in_memory(const std::string& input, const ConvertOptions& options) {
  if (is_in_parts(input, options)) return false;
  Input file(input);
  return in_memory(plan_for(file, options));
}

bool is_text(Format format) {
  return has_names(format) || format == Format::matrix_market || format == Format::metis;
}

bool has_weights(Format format) { return format != Format::el && format != Format::sg; }

bool has_names(Format format) {
  return format == Format::el || format == Format::wel || format == Format::csv || format == Format::tsv;
}

void check_packing(const std::string& path, Format format) {
  if (is_text(format)) return check_packed_ending(path);
  if (const auto ending = packed_ending(path); !ending.empty())
    throw UsageError(fmt::format(
        "{}: output is not compressed; write to a name without {} and compress that file", path, ending));
}

Format format_of_output(const std::string& path) {
  const std::string plain = path.substr(0, path.size() - packed_ending(path).size());
  const std::string ending = std::filesystem::path(plain).extension().string();
  if (ending.empty() || ending == ".ew") return Format::ew;
  if (ending == ".tsv") return Format::tsv;
  const auto format = format_of_name(plain);
  if (format && (is_text(*format) || format == Format::sg || format == Format::wsg)) return *format;
  const std::string call =
      python_writes(path, "edgewire.read(...).to_pandas()", "edgewire.read(...).to_networkx()");
  throw UsageError(fmt::format(
      "{}: {} is not written; {}use a name that ends in .ew, .el, .wel, .csv, .tsv, .mtx, .sg, .wsg or "
      ".graph{}",
      path, ending, call.empty() ? "" : fmt::format("Python writes it: {}; else ", call),
      opt::to.hint(", or {}", "FORMAT")));
}

WriteSummary export_graph(const Graph& graph, const std::string& output, const ExportOptions& options,
                          const Progress& progress) {
  graph.expect_all_rows();
  std::error_code ignored;
  if (output != "-" && std::filesystem::equivalent(graph.path(), output, ignored))
    throw Error(fmt::format("{}: input and output are the same file", output));
  const bool weights = options.weights && graph.weighted() && has_weights(options.format);
  if (!weights && (options.format == Format::wel || options.format == Format::wsg))
    throw Error(
        fmt::format("{}: .wel and .wsg hold weights, but {}; write .el or .sg", output,
                    graph.weighted() ? fmt::format("{} drops them", opt::no_weights) : "the graph has none"));
  const Export task = {graph, output, weights, options.names, workers_or_default(options.workers), progress};
  try {
    const Format format = options.format;
    if (format == Format::csv) return write_table(task, ',');
    if (format == Format::tsv) return write_table(task, '\t');
    if (format == Format::matrix_market) return write_matrix_market(task);
    if (format == Format::metis) return write_metis(task);
    if (format == Format::el || format == Format::wel) return write_gap_text(task);
    if (format == Format::sg || format == Format::wsg) return write_gap_binary(task);
    throw Error(fmt::format("{}: this format is not written", output));
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("{}: not enough memory to write it{}", output, limit_to_raise(ENOMEM)));
  }
}

}  // namespace edgewire::graph
