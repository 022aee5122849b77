#include <fmt/core.h>

#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/convert_settings.h"
#include "cli/files.h"
#include "cli/profile_files.h"
#include "graph/convert.h"

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
  command
      ->add_option("--to", settings->to,
                   "the format to write, whatever the name: ew, el, wel, csv, tsv, mtx, sg, wsg, graph")
      ->check(CLI::IsMember(kWritten))
      ->capture_default_str();
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
  writes(command->add_option("--json", settings->job.json_path,
                             "write the run report to this file as JSON; - is stdout"),
         Form::text);
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
