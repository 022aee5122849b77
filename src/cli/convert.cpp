#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/common.h"
#include "cli/graph_files.h"
#include "error.h"
#include "graph/convert.h"
#include "graph/export.h"
#include "graph/output_file.h"
#include "graph/vertex_names.h"

namespace edgewire::cli {

namespace {

using graph::Format;

struct ConvertSettings {
  std::string input;
  GraphOutput output;
  std::string format = "auto";
  std::string to = "auto";
  bool no_weights = false;
  std::string vertices;
  bool labels = false;
  std::string columns;

  graph::ConvertOptions reading(Format input_format) const {
    return {input_format,   !no_weights, output.simple, output.undirected,
            output.workers, vertices,    labels,        columns};
  }
};

/// The input as a graph file that nobody else sees and that is gone with the result.
graph::GraphFile read_aside(const ConvertSettings& settings, Format input_format) {
  const std::string& output = settings.output.path;
  const auto folder = output == "-" ? std::filesystem::temp_directory_path()
                                    : std::filesystem::absolute(output).parent_path();
  graph::BuildSummary read;
  auto graph = convert_aside(settings.input, folder.string(), settings.reading(input_format), read);
  if (read.third_is_weight)
    fmt::print(stderr, "edgewire: {}: third column taken as weight (--no-weights drops it)\n",
               settings.input);
  return graph;
}

void write_other(const ConvertSettings& settings, Format input_format, Format format,
                 std::chrono::steady_clock::time_point start) {
  const std::string& output = settings.output.path;
  std::error_code ignored;
  if (std::filesystem::equivalent(settings.input, output, ignored))
    throw Error(fmt::format("{}: input and output are the same file", output));
  if (output != "-") check_writable(output);
  const bool automatic = input_format == Format::automatic;
  const bool is_ours =
      automatic ? graph::format_of_name(settings.input) == Format::ew : input_format == Format::ew;
  const bool as_it_is =
      is_ours && !settings.output.simple && !settings.output.undirected && settings.vertices.empty();
  const auto graph = as_it_is ? graph::GraphFile::open(settings.input) : read_aside(settings, input_format);
  const auto written = graph::export_graph(
      graph, output, {format, !settings.no_weights, settings.output.workers}, graph_progress());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print(output == "-" ? stderr : stdout,
             "{}: {} vertices, {} edges, {:.1f} MB, {:.2f} s; vertices are numbered from {} in the order of "
             "the graph\n",
             output == "-" ? "stdout" : output, graph.vertices(), written.edges,
             static_cast<double>(written.bytes) / 1e6, seconds.count(), written.first_id);
  if (graph.weighted() && !settings.no_weights && !graph::has_weights(format))
    fmt::print(stderr, "edgewire: warning: {}: weights are left out; .wel, .mtx and .wsg hold them\n",
               output);
  if (written.lost_vertices > 0) {
    fmt::print(
        stderr,
        "edgewire: warning: {}: the last {} vertices have no edges, and edge lists cannot hold them; .mtx "
        "and .sg can\n",
        output, written.lost_vertices);
  }
}

Format output_format(const ConvertSettings& settings, const std::map<std::string, Format>& formats) {
  const bool stdout_wanted = settings.output.path == "-";
  if (settings.to == "auto" && stdout_wanted)
    throw UsageError("-o -: say which format goes to stdout: --to el, wel, mtx or graph");
  const Format format =
      settings.to == "auto" ? graph::format_of_output(settings.output.path) : formats.at(settings.to);
  if (stdout_wanted && !graph::is_text(format))
    throw UsageError(
        fmt::format("-o -: {} needs a file; stdout takes --to el, wel, mtx or graph", settings.to));
  return format;
}

}  // namespace

void add_convert(CLI::App& app) {
  static const std::map<std::string, Format> kFormats = [] {
    std::map<std::string, Format> formats = {{"auto", Format::automatic}};
    for (const graph::FormatName& known : graph::all_formats()) formats.emplace(known.option, known.format);
    return formats;
  }();
  static const std::map<std::string, Format> kWritten = {
      {"auto", Format::automatic},    {"ew", Format::ew}, {"el", Format::el},   {"wel", Format::wel},
      {"mtx", Format::matrix_market}, {"sg", Format::sg}, {"wsg", Format::wsg}, {"graph", Format::metis}};
  auto settings = std::make_shared<ConvertSettings>();
  CLI::App* command = app.add_subcommand(
      "convert", "turn a graph in another format into a graph file (.ew), or the other way round");
  command
      ->add_option("input", settings->input,
                   "the file to read (- is stdin), plain, .gz, .zst, .xz, .bz2, or .tar of these")
      ->required();
  settings->output.add_to(*command);
  command->get_option("--output")
      ->description(
          "the file to write; its ending says the format: .ew, .el, .wel, .mtx, .sg, .wsg or .graph (METIS); "
          "- is stdout");
  command
      ->add_option("--to", settings->to,
                   "the format to write, whatever the name: ew, el, wel, mtx, sg, wsg, graph")
      ->check(CLI::IsMember(kWritten))
      ->capture_default_str();
  command
      ->add_option(
          "--format", settings->format,
          "auto (from name and content), snap (edge list: SOURCE TARGET [WEIGHT]), csv (table), mtx (Matrix "
          "Market), metis, "
          "dimacs (.gr), el, wel, sg, wsg (GAP), u32pairs (little endian), ew")
      ->check(CLI::IsMember(kFormats))
      ->capture_default_str();
  command->add_flag("--no-weights", settings->no_weights, "drop weights");
  command->add_option(
      "--vertices", settings->vertices,
      "edge lists: a file of ids, one a line, of vertices that exist even without edges (LDBC's .v)");
  command->add_flag("--labels", settings->labels,
                    "edge lists, and tables with --columns: ids are names, of any text; OUTPUT.labels keeps "
                    "them, and results show them");
  command->add_option(
      "--columns", settings->columns,
      "tables (csv): SOURCE,TARGET[,WEIGHT], each the name of a column or its number from 1 on");
  command->callback([settings] {
    const auto start = std::chrono::steady_clock::now();
    const Format format = output_format(*settings, kWritten);
    if (settings->labels && format != Format::ew)
      throw UsageError("--labels keeps names beside an .ew file: convert to .ew with it, and then that file");
    const Format input_format = kFormats.at(settings->format);
    if (format == Format::ew) {
      print_summary(settings->output.path,
                    graph::convert(settings->input, settings->output.path, settings->reading(input_format),
                                   graph_progress()),
                    start);
    } else {
      write_other(*settings, input_format, format, start);
    }
  });
}

}  // namespace edgewire::cli
