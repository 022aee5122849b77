#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/output_file.h"
#include "base/output_folder.h"
#include "cli/commands.h"
#include "cli/convert_settings.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "graph/convert.h"
#include "graph/vertex_names.h"
#include "report/progress.h"

namespace edgewire::cli {

namespace {

using graph::Format;

/// Throws UsageError where parts cannot be what is asked for.
void check_parts(ConvertSettings& settings, Format format) {
  std::string& output = settings.output.path;
  if (!settings.parts) return;
  if (format != Format::ew || output == "-")
    throw UsageError("--parts is for graphs of .ew: convert to .ew with it, and then that folder");
  if (settings.how.labels)
    throw UsageError("--labels keeps names beside one .ew file: leave --parts out, or convert numbers");
  while (output.size() > 1 && output.ends_with('/')) output.pop_back();
}

Format output_format(const ConvertSettings& settings, const std::map<std::string, Format>& formats) {
  const bool stdout_wanted = settings.output.path == "-";
  if (settings.to == "auto" && stdout_wanted)
    throw UsageError("-o -: say which format goes to stdout: --to el, wel, csv, tsv, mtx or graph");
  const Format format =
      settings.to == "auto" ? graph::format_of_output(settings.output.path) : formats.at(settings.to);
  if (stdout_wanted && !graph::is_text(format))
    throw UsageError(
        fmt::format("-o -: {} needs a file; stdout takes --to el, wel, csv, tsv, mtx or graph", settings.to));
  graph::check_packing(settings.output.path, format);
  if (settings.how.labels && format != Format::ew && !graph::has_names(format))
    throw UsageError("--labels: names go into .ew, .csv, .tsv, .el and .wel files; others hold numbers");
  return format;
}

/// A graph that is to be written in another format.
struct Source {
  graph::GraphFile graph;
  std::unique_ptr<OutputFile> names{};  ///< names of its vertices, where they are not beside it
};

/// Returns the input as a graph file that nobody else sees and that is gone with the result. `names`: what
/// is written has the names of the vertices.
Source read_aside(const ConvertSettings& settings, Format input_format, bool is_ours, bool names) {
  const std::string& output = settings.output.path;
  const std::string folder =
      output == "-" ? temporary_folder() : std::filesystem::absolute(output).parent_path().string();
  graph::BuildSummary read;
  const auto nameless = OutputFile::nameless(folder);
  auto table = names ? OutputFile::nameless(folder) : nullptr;
  auto reading = settings.reading(input_format);
  reading.table = table.get();
  if (is_ours) reading.labels = false;  // it has its names
  auto graph = convert_to_temporary(settings.input, *nameless, reading, read);
  if (table) graph.set_table(table->path_for_others());
  if (read.third_is_weight && !read.doubtful)
    note(fmt::format("{}: third column taken as weight (--no-weights drops it)", settings.input));
  if (read.compacted)
    note(fmt::format("{}: ids are sparse: only vertices with edges are kept (--keep-ids keeps all)",
                     settings.input));
  return {std::move(graph), std::move(table)};
}

/// Writes the graph in another format.
void write_other(const ConvertSettings& settings, Format input_format, Format format,
                 Clock::time_point start) {
  const std::string& output = settings.output.path;
  if (output != "-") check_writable(output);
  const bool automatic = input_format == Format::automatic;
  const bool is_ours =
      automatic ? graph::format_of_name(settings.input) == Format::ew || graph::is_folder(settings.input)
                : input_format == Format::ew;
  const bool as_it_is = is_ours && settings.inputs.size() == 1 && !settings.output.simple &&
                        !settings.output.undirected && settings.vertices.empty();
  const bool names = graph::has_names(format);
  const Source source = as_it_is ? Source{graph::GraphFile::open(settings.input)}
                                 : read_aside(settings, input_format, is_ours, names);
  const auto& graph = source.graph;
  if (settings.how.labels && !graph.labelled())
    throw UsageError(fmt::format("{}: its vertices have no names: leave out --labels", settings.input));
  if (as_it_is) {
    graph::BuildOptions options;
    if (!settings.allow_empty) options.must_hold_edges = settings.input;
    graph::require_edges(options, graph.edges());
  }
  if (graph.weights_doubtful() && !settings.no_weights && graph::has_weights(format))
    note(fmt::format("{}: the third column looks like a time, not like a weight: --no-weights leaves it out",
                     graph.path()));
  const auto written = graph::export_graph(
      graph, output, {format, !settings.no_weights, settings.output.workers, settings.how.labels},
      report::progress_on_terminal());
  const double seconds = seconds_since(start);
  const std::string called =
      written.first_id
          ? fmt::format("vertices are numbered from {} in the order of the graph", *written.first_id)
          : "vertices are called as in results";
  const std::string summary =
      fmt::format("{}: {} vertices, {} edges, {:.1f} MB, {:.2f} s; {}\n", output == "-" ? "stdout" : output,
                  graph.vertices(), written.edges, static_cast<double>(written.bytes) / 1e6, seconds, called);
  if (output == "-")
    say(summary);
  else
    write_whole("-", summary);
  if (graph.weighted() && !settings.no_weights && !graph::has_weights(format))
    note(fmt::format("warning: {}: weights are left out; .wel, .csv, .mtx and .wsg hold them", output));
  if (written.lost_vertices > 0)
    note(
        fmt::format("warning: {}: {}{} vertices have no edges, and edge lists and tables cannot hold them; "
                    ".mtx and .sg can",
                    output, written.first_id ? "the last " : "", written.lost_vertices));
}

}  // namespace

void add_convert(CLI::App& app) {
  static const std::map<std::string, Format> kWritten = {
      {"auto", Format::automatic},    {"ew", Format::ew},   {"el", Format::el},
      {"wel", Format::wel},           {"csv", Format::csv}, {"tsv", Format::tsv},
      {"mtx", Format::matrix_market}, {"sg", Format::sg},   {"wsg", Format::wsg},
      {"graph", Format::metis}};
  auto settings = std::make_shared<ConvertSettings>();
  CLI::App* command = app.add_subcommand(
      "convert", "turn a graph in another format into a graph file (.ew), or the other way round");
  reads(command
            ->add_option(
                "input", settings->inputs,
                "the file to read (- is stdin), plain, .gz, .zst, .xz, .bz2, or .tar of these; an edge list "
                "may lie in several files")
            ->required(),
        graph_and_labels);
  settings->output.add_to(*command);
  writes(command->get_option("--output")
             ->description(
                 "the file to write; its ending says the format: .ew, .el, .wel, .csv, .tsv, .mtx, .sg, .wsg "
                 "or .graph (METIS), text also as .gz or .zst; - is stdout"),
         Form::graph, graph_and_labels);
  add_checked(*command, "--to", settings->to,
              "the format to write, whatever the name: ew, el, wel, csv, tsv, mtx, sg, wsg, graph",
              CLI::IsMember(kWritten));
  settings->how.add_to(*command);
  command->add_flag("--no-weights", settings->no_weights, "drop weights");
  reads(command->add_option(
      "--vertices", settings->vertices,
      "edge lists: a file of ids, one a line, of vertices that exist even without edges (LDBC's .v)"));
  command->add_flag("--keep-ids", settings->keep_ids,
                    "vertices are all ids up to the largest, also where few of them have edges; otherwise "
                    "sparse ids are numbered anew, and results have the ids of the file");
  command->add_flag("--allow-empty", settings->allow_empty,
                    "an input without an edge is no error: it becomes a graph of the vertices that it names");
  add_json_option(*command, settings->job.json_path, "run report");
  command->option_defaults()->group("In parts");
  command
      ->add_option(
          "--memory", settings->memory,
          "memory of each process, such as 2G; edges that do not fit go to disk as sorted runs. By "
          "default all are kept in memory, and with -p 1G, or three quarters of a process's share of the "
          "memory that is free where that is less")
      ->transform(sizes())
      ->check(memory_range());
  command->add_flag(
      "--parts", settings->parts,
      "the output is a folder, to which each process writes a part of the graph on its own host; "
      "commands read the folder as one graph. With --hosts every host has the parts of its "
      "processes, on a disk of its own or on one that all share");
  writes(command->add_option("--temp", settings->temp,
                             "write what does not fit to this folder; by default the output's"),
         Form::folder, no_names);
  settings->job.add_to(*command);
  settings->job.launch.less_memory = "a smaller --memory";
  add_profile_options(*command, settings->job);
  command->callback([settings] {
    const auto start = Clock::now();
    settings->input = settings->inputs[0];
    const Format format = output_format(*settings, kWritten);
    check_parts(*settings, format);
    const Format input_format = settings->how.format_wanted();
    settings->job.workers = settings->output.workers;
    if (!settings->job.json_path.empty() && format != Format::ew)
      throw UsageError("--json reports on .ew files that are written, not on other formats");
    check_writable(settings->job.json_path);
    if (settings->job.profiled() && !settings->in_parts())
      throw UsageError("--profile says where the time of a load in parts goes: give --memory or -p");
    if (settings->in_parts() && format != Format::ew)
      throw UsageError("--memory and -p are for .ew files: convert to .ew with them, and then that file");
    if (settings->in_parts()) {
      load_in_parts(*settings, input_format, start);
    } else if (format == Format::ew) {
      load_in_memory(*settings, input_format, start);
    } else {
      write_other(*settings, input_format, format, start);
    }
  });
}

}  // namespace edgewire::cli
