// This file turns graphs of other formats into a graph file, or into a folder of parts, and back.
#include <fmt/core.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/output_file.h"
#include "base/output_folder.h"
#include "base/units.h"
#include "base/usage.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "graph/file/vertex_names.h"
#include "graph/read/formats.h"
#include "launch/packing.h"
#include "options/files.h"
#include "process/interrupt.h"
#include "profile/job_profile.h"
#include "report/json_text.h"
#include "report/progress.h"
#include "runs/job_report.h"
#include "shuffle/load_job.h"

namespace edgewire::cli {

namespace {

using graph::Format;

/// The settings of `convert`.
struct ConvertSettings {
  std::vector<std::string> inputs;
  Reading how;
  std::string output, to = "auto";
  JobOptions job;
  std::string temp;
  std::uint64_t memory = 0;  ///< memory of each process; 0: as much as it takes
  bool parts = false;        ///< whether the output is a folder

  const std::string& input() const { return inputs.front(); }
  bool in_parts() const {
    return memory > 0 || job.launch.processes > 1 || !job.launch.hosts_file.empty() || parts;
  }
};

/// Throws UsageError where parts do not go with the other settings.
void check_parts(ConvertSettings& settings, Format format) {
  std::string& output = settings.output;
  if (!settings.parts) return;
  if (format != Format::ew || output == "-")
    throw UsageError("--parts writes graphs of .ew: convert to .ew with it, and then convert that folder");
  if (settings.how.labels)
    throw UsageError("--labels keeps names beside one .ew file: leave --parts out, or convert numbers");
  while (output.size() > 1 && output.ends_with('/')) output.pop_back();
}

Format output_format(const ConvertSettings& settings, const std::map<std::string, Format>& formats) {
  const bool stdout_wanted = settings.output == "-";
  if (settings.to == "auto" && stdout_wanted)
    throw UsageError("-o -: name the format for stdout: --to el, wel, csv, tsv, mtx or graph");
  const Format format =
      settings.to == "auto" ? graph::format_of_output(settings.output) : formats.at(settings.to);
  if (stdout_wanted && !graph::is_text(format))
    throw UsageError(
        fmt::format("-o -: {} needs a file; stdout takes --to el, wel, csv, tsv, mtx or graph", settings.to));
  graph::check_packing(settings.output, format);
  if (settings.how.labels && format != Format::ew && !graph::has_names(format))
    throw UsageError("--labels: names go into .ew, .csv, .tsv, .el and .wel files; others hold numbers");
  return format;
}

/// Returns the call by which Python writes a format, as a hint for one_of(); or an empty text.
std::string call_that_writes(const std::string& format) {
  const auto call = graph::python_writes("FILE." + format, "edgewire.read(...).to_pandas()",
                                         "edgewire.read(...).to_networkx()");
  return call.empty() ? call : "Python writes it: " + call;
}

/// A graph to write in another format.
struct Source {
  Graph graph;
  std::unique_ptr<OutputFile> names{};  ///< names of its vertices, where they are not beside it
  bool named = false;                   ///< whether the ids of the input are names
};

/// Returns the input as a graph file that no other process sees and that is gone with the result. `names`:
/// whether the output has the names of the vertices.
Source read_aside(const ConvertSettings& settings, bool is_ours, bool names) {
  const std::string& output = settings.output;
  const std::string folder =
      output == "-" ? temporary_folder() : std::filesystem::absolute(output).parent_path().string();
  graph::BuildSummary read;
  const auto nameless = OutputFile::nameless(folder);
  auto table = names ? OutputFile::nameless(folder) : nullptr;
  auto reading = settings.how;
  reading.table = table.get();
  if (is_ours) reading.labels = false;  // a file of ours has its names
  auto graph = convert_to_temporary(settings.input(), *nameless, reading, read);
  if (table) graph.set_table(table->path_for_others());
  if (read.third_is_weight && !read.doubtful)
    note(fmt::format("{}: third column taken as weight (--no-weights drops it)", settings.input()));
  if (read.compacted)
    note(fmt::format("{}: ids are sparse: only vertices with edges are kept (--keep-ids keeps all)",
                     settings.input()));
  return {std::move(graph), std::move(table), read.named};
}

/// Writes the graph in another format.
void write_other(const ConvertSettings& settings, Format format, Clock::time_point start) {
  const std::string& output = settings.output;
  if (output != "-") check_writable(output);
  const bool automatic = settings.how.format == Format::automatic;
  const bool is_ours =
      automatic ? graph::format_of_name(settings.input()) == Format::ew || graph::is_folder(settings.input())
                : settings.how.format == Format::ew;
  const bool as_it_is = is_ours && settings.inputs.size() == 1 && !settings.how.simple &&
                        !settings.how.undirected && settings.how.vertices.empty();
  const bool names = graph::has_names(format);
  const Source source =
      as_it_is ? Source{Graph::open(settings.input())} : read_aside(settings, is_ours, names);
  const auto& graph = source.graph;
  if (settings.how.labels && !graph.labelled())
    throw UsageError(fmt::format("{}: its vertices have no names: leave out --labels", settings.input()));
  if (source.named && !names)
    throw UsageError(
        fmt::format("{}: its ids are names, which go into .ew, .csv, .tsv, .el and .wel files; others "
                    "hold numbers: convert to .ew, and then that file",
                    settings.input()));
  if (as_it_is) {
    graph::BuildOptions options;
    if (!settings.how.allow_empty) options.must_hold_edges = settings.input();
    graph::require_edges(options, graph.edges());
  }
  if (graph.weights_doubtful() && settings.how.weights && graph::has_weights(format))
    note(fmt::format("{}: the third column looks like a time, not like a weight: {} leaves it out",
                     graph.path(),
                     format == Format::wel   ? "--to el"
                     : format == Format::wsg ? "--to sg"
                                             : "--no-weights"));
  const auto written = graph::export_graph(
      graph, output,
      {format, settings.how.weights, settings.how.workers, settings.how.labels || source.named},
      report::progress_on_stderr());
  const double seconds = seconds_since(start);
  const std::string called =
      written.first_id
          ? fmt::format("vertices are numbered from {} in the order of the graph", *written.first_id)
          : "vertices are called as in results";
  const std::string summary = fmt::format("{}: {} vertices, {} edges, {}, {}; {}\n",
                                          output == "-" ? "stdout" : output, graph.vertices(), written.edges,
                                          readable_bytes(written.bytes), readable_seconds(seconds), called);
  if (output == "-")
    say(is_quiet() ? "" : summary);
  else
    show(summary);
  if (graph.weighted() && settings.how.weights && !graph::has_weights(format))
    note(fmt::format("warning: {}: weights are left out; .wel, .csv, .mtx and .wsg hold them", output));
  if (written.lost_vertices > 0)
    note(
        fmt::format("warning: {}: {}{} vertices have no edges, and edge lists and tables cannot hold them; "
                    ".mtx and .sg can",
                    output, written.first_id ? "the last " : "", written.lost_vertices));
}

/// The records and bytes that a conversion moved, in all processes.
struct Moved {
  int workers = 1;
  std::optional<report::JobReport> job{};  ///< job of a conversion in parts
  std::uint64_t memory_bytes = 0;          ///< memory of a process; 0: as much as it takes
  std::uint64_t runs = 0, bytes_spilled = 0, bytes_sent = 0;
  profile::Balance balance{};  ///< balance of a conversion in parts
};

std::uint64_t input_bytes(const ConvertSettings& settings) {
  std::uint64_t bytes = 0;
  for (const std::string& input : settings.inputs)
    if (input != "-") bytes += std::filesystem::file_size(input);
  return bytes;
}

/// Prints the line for people, and writes the report.
void report_conversion(const ConvertSettings& settings, const graph::BuildSummary& summary,
                       const Moved& moved, Clock::time_point start) {
  const std::string& path = settings.job.json_path;
  if (summary.doubtful)
    note(
        fmt::format("{}: the third column looks like a time, not like a weight, so kernels refuse to use it: "
                    "--no-weights "
                    "leaves it out, --columns 1,2,3 takes it as a weight",
                    settings.input() == "-" ? "stdin" : settings.input()));
  if (settings.job.stdout_is_free()) print_summary(settings.output, summary, start);
  if (settings.job.stdout_is_free() && moved.job) {
    show(moved.balance.to_line());
    if (moved.job->processes > 1) show(moved.job->link.to_text());
    show(moved.job->profile_text());
  }
  if (moved.job) write_profile_files(*moved.job, settings.job, "Load to " + settings.output);
  if (path.empty()) return;
  report::Json json{{"schema_version", 1},  // version of src/report/schema
                    {"command", "convert"},      {"inputs", settings.inputs},
                    {"output", settings.output}, {"vertices", summary.vertices},
                    {"edges", summary.edges},    {"edges_dropped", summary.dropped}};
  if (moved.job)
    moved.job->add_head(json);
  else
    json.update({{"processes", 1}, {"workers", moved.workers}});
  if (moved.memory_bytes > 0) json["memory_bytes"] = moved.memory_bytes;
  if (settings.input() != "-") json["bytes_read"] = input_bytes(settings);
  EDGEWIRE_ADD_FIELDS(json, moved, runs, bytes_spilled, bytes_sent);
  json["bytes_written"] = summary.bytes;
  json["seconds_total"] = seconds_since(start);
  if (moved.job) {
    json["balance"] = moved.balance.to_json();
    moved.job->add_place(json);
    moved.job->add_end(json);
  } else {
    json["peak_rss_bytes"] = peak_memory_bytes();
    json["version"] = EDGEWIRE_VERSION;
  }
  write_whole(path, report::json_text(json, 2) + "\n");
}

/// Returns the sums over all processes, at rank 0. Collective.
Moved gather_moved(launch::Bootstrap& bootstrap, const shuffle::LoadJob& job,
                   const shuffle::LoadOptions& options) {
  Moved moved{options.process.workers,
              runs::gather_job(bootstrap, job.process(), options.process.transport_reason, {}),
              options.memory_bytes};
  const auto all =
      bootstrap.gather(launch::pack(std::vector{job.runs(), job.bytes_spilled(), job.bytes_sent()}));
  for (std::size_t p = 0; p < all.size(); ++p) {
    const auto one = launch::unpack<std::uint64_t>(all[p], p, 3);
    moved.runs += one[0];
    moved.bytes_spilled += one[1];
    moved.bytes_sent += one[2];
  }
  return moved;
}

/// Returns what this process moved. Bytes that are not counted for each process are shared out evenly.
profile::ProcessFacts facts_of(const launch::Bootstrap& bootstrap, const shuffle::LoadJob& job,
                               const ConvertSettings& settings, const graph::BuildSummary& summary,
                               double disk_s) {
  constexpr std::uint64_t kSteps = 4;
  const auto size = static_cast<std::uint64_t>(bootstrap.size());
  const std::uint64_t written = summary.edges > 0
                                    ? static_cast<std::uint64_t>(static_cast<double>(summary.bytes) *
                                                                 static_cast<double>(job.edges_written()) /
                                                                 static_cast<double>(summary.edges))
                                    : summary.bytes / size;
  return profile::facts_of(
      {job.edges_read(), input_bytes(settings) / size, job.bytes_spilled(), written, disk_s, kSteps});
}

/// Runs one process of a job that converts in parts.
void load_process(launch::Bootstrap& bootstrap, const ConvertSettings& settings, Clock::time_point start) {
  // Bytes of memory, taken only as far as edges need them.
  constexpr std::uint64_t kLeastMemory = std::uint64_t{128} << 20;
  const bool first = bootstrap.rank() == 0;
  if (first) check_report_files(settings.job);
  shuffle::LoadOptions options;
  options.process = settings.job.process(bootstrap);
  options.output = settings.output;
  options.parts = settings.parts;
  options.temp = settings.temp;
  if (options.temp.empty() && options.parts) options.temp = options.output;
  if (options.temp.empty()) options.temp = std::filesystem::absolute(settings.output).parent_path().string();
  options.memory_bytes = settings.memory > 0 ? settings.memory : usual_memory(bootstrap, kLeastMemory);
  shuffle::LoadJob* started = nullptr;
  std::optional<profile::LoadWatch>* watched = nullptr;
  options.started = [&] {
    auto paths = settings.inputs;
    paths.insert(paths.end(),
                 {options.temp, std::filesystem::absolute(settings.output).parent_path().string()});
    watched->emplace(bootstrap, started->process(), paths, profile_options(settings.job, {"step", "edges"}),
                     settings.job.profiled());
  };
  options.step_done = [&](const char* step) { (*watched)->end_step(step); };
  shuffle::LoadJob job(bootstrap, options);
  started = &job;
  std::optional<profile::LoadWatch> watch;  // it refers to the job, so it ends first
  watched = &watch;
  auto reading = settings.how;
  reading.workers = options.process.workers;
  std::optional<process::InterruptLine> interrupt_line;
  Progress progress;
  if (first) {
    interrupt_line.emplace();
    progress = process::InterruptLine::listen(report::progress_on_stderr());
  }
  const auto summary = graph::convert_to(job, settings.input(), settings.output, reading, progress);
  progress = {};  // removes the progress line
  watch->end_run();
  Moved moved = gather_moved(bootstrap, job, options);
  moved.balance = watch->gather(*moved.job, facts_of(bootstrap, job, settings, summary, watch->disk_s()));
  job.commit();
  interrupt_line.reset();  // the result is whole
  if (first) report_conversion(settings, summary, moved, start);
}

/// Converts in processes of bounded memory. Throws Error, and CLI::RuntimeError with the job's exit status.
void load_in_parts(const ConvertSettings& settings, Clock::time_point start) {
  if (settings.input() == "-" &&
      (settings.job.launch.processes > 1 || !settings.job.launch.hosts_file.empty()))
    throw UsageError("-: only one process can read stdin: leave -p and --hosts out");
  const auto process = [&](launch::Bootstrap& bootstrap) { load_process(bootstrap, settings, start); };
  if (settings.parts)
    run_job_into(settings.output, OutputFolder::Parents::must_exist, settings.job.launch, process);
  else
    run_job(settings.job.launch, process);
}

}  // namespace

void add_convert(CLI::App& app) {
  static const std::map<std::string, Format> kWritten = {
      {"auto", Format::automatic},    {"ew", Format::ew},   {"el", Format::el},
      {"wel", Format::wel},           {"csv", Format::csv}, {"tsv", Format::tsv},
      {"mtx", Format::matrix_market}, {"sg", Format::sg},   {"wsg", Format::wsg},
      {"graph", Format::metis}};
  std::vector<std::string> written;
  for (const auto& [name, format] : kWritten) written.push_back(name);
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
  auto& how = settings->how;
  add_graph_output(*command, settings->output, how.simple, how.undirected, how.workers);
  writes(command->get_option("--output")
             ->description(
                 "the file to write; its ending says the format: .ew, .el, .wel, .csv, .tsv, .mtx, .sg, .wsg "
                 "or .graph (METIS), text also as .gz or .zst; - is stdout"),
         Form::graph, graph_and_labels);
  add(*command, opt::to, settings->to)->check(one_of(written, call_that_writes));
  how.add_to(*command);
  const auto drop = [&how](std::int64_t) { how.weights = false; };
  describe(command->add_flag_function(names_of(opt::no_weights), drop), opt::no_weights);
  reads(add(*command, opt::vertices, how.vertices));
  add(*command, opt::keep_ids, how.keep_ids);
  add(*command, opt::allow_empty, how.allow_empty);
  add_report_options(*command, settings->job.json_path, "run report");
  command->option_defaults()->group("In parts");
  add(*command, opt::convert_memory, settings->memory);
  add(*command, opt::parts, settings->parts);
  writes(add(*command, opt::temp, settings->temp), Form::folder, no_names);
  settings->job.add_to(*command);
  settings->job.launch.less_memory = "a smaller --memory";
  add_profile_options(*command, settings->job);
  command->callback([settings] {
    const auto start = Clock::now();
    settings->how.more.assign(settings->inputs.begin() + 1, settings->inputs.end());
    const Format format = output_format(*settings, kWritten);
    check_parts(*settings, format);
    settings->job.process_asked.workers = settings->how.workers;
    if (!settings->job.json_path.empty() && format != Format::ew)
      throw UsageError("--json reports on .ew files that are written, not on other formats");
    if (settings->in_parts()) {
      if (format != Format::ew)
        throw UsageError("--memory and -p are for .ew files: convert to .ew with them, and then that file");
      return load_in_parts(*settings, start);
    }
    check_writable(settings->job.json_path);
    if (settings->job.profiled())
      throw UsageError("--profile says where the time of a load in parts goes: give --memory or -p");
    if (format != Format::ew) return write_other(*settings, format, start);
    report_conversion(
        *settings,
        graph::convert(settings->input(), settings->output, settings->how, report::progress_on_stderr()),
        {workers_or_default(settings->how.workers)}, start);
  });
}

}  // namespace edgewire::cli
