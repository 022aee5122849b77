#include "cli/graph_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/output_folder.h"
#include "base/units.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/job_options.h"
#include "cli/option.h"
#include "graph/read/formats.h"
#include "launch/bootstrap.h"
#include "launch/launcher.h"
#include "options/files.h"
#include "options/jobs.h"
#include "options/kernels.h"
#include "report/progress.h"
#include "shuffle/load_job.h"

namespace edgewire::cli {

void add_graph_output(CLI::App& command, std::string& path, bool& simple, bool& undirected, int& workers) {
  writes(add(command, opt::output, path, "the graph file to write (.ew)")->required(), Form::binary);
  add(command, opt::simple, simple);
  add(command, opt::undirected, undirected);
  add(command, opt::workers, workers);
}

Reading::Reading() { note = edgewire::note; }

void Reading::add_to(CLI::App& command) {
  std::vector<std::string> names{"auto"};
  for (const graph::FormatName& known : graph::all_formats()) names.emplace_back(known.option);
  const auto set = [this](const std::string& name) {
    const auto all = graph::all_formats();
    const auto known = std::ranges::find(all, name, &graph::FormatName::option);
    format = known == all.end() ? graph::Format::automatic : known->format;
  };
  describe(command.add_option_function<std::string>(names_of(opt::format), set), opt::format)
      ->check(one_of(names,
                     [](const std::string& word) {
                       const auto call = graph::python_reads("FILE." + word);
                       return call.empty() ? call : "Python reads it: " + call;
                     }))
      ->default_str("auto");
  add(command, opt::labels, labels);
  add(command, opt::columns, columns)
      ->check(
          [](const std::string& value) {
            return value.empty() ? std::string("the list is empty; give SOURCE,TARGET[,WEIGHT]")
                                 : std::string();
          },
          "");
}

void add_graph_input(CLI::App& command, std::string& path, Reading& reading) {
  reads(command.add_option("graph", path, kGraphHelp)->required(), graph_and_labels);
  command.option_defaults()->group("Input");
  reading.add_to(command);
  command.option_defaults()->group("Options");
}

void print_summary(const std::string& path, const graph::BuildSummary& summary, Clock::time_point start) {
  const double seconds = seconds_since(start);
  const std::string dropped =
      summary.dropped == 0 ? "" : fmt::format(" ({} duplicates and self loops dropped)", summary.dropped);
  const char* weights = summary.third_is_weight && !summary.doubtful
                            ? "; third column taken as weight (--no-weights drops it)"
                            : "";
  const char* compacted =
      summary.compacted ? "; ids are sparse: only vertices with edges are kept (--keep-ids keeps all)" : "";
  show(fmt::format("{}: {} vertices, {} edges{}, {}, {}{}{}\n", path, summary.vertices, summary.edges,
                   dropped, readable_bytes(summary.bytes), readable_seconds(seconds), weights, compacted));
}

Graph convert_to_temporary(const std::string& input, OutputFile& nameless,
                           const graph::ConvertOptions& options, graph::BuildSummary& summary) {
  summary = graph::convert(input, nameless, options, report::progress_on_stderr());
  return Graph::open(nameless.path_for_others(), input);
}

namespace {

struct Conversion {
  std::unique_ptr<OutputFile> file, names;
  Graph graph;
};

/// Returns whether the text names an option of `edgewire convert` alone.
bool names_its_options(const std::string& text) {
  for (std::size_t at = text.find("--"); at != text.npos; at = text.find("--", at + 2)) {
    const auto is_here = [&](const char* name) { return text.compare(at, std::strlen(name), name) == 0; };
    if (!is_here("--labels") && !is_here("--columns") && !is_here("--format")) return true;
  }
  return false;
}

/// Converts as `edgewire convert --memory` does, in this process.
Conversion convert_in(std::uint64_t memory_bytes, const std::string& path, graph::ConvertOptions reading,
                      const std::string& folder, graph::BuildSummary& summary) {
  const auto alone = launch::alone();
  shuffle::LoadOptions options;
  options.process.workers = workers_or_default(0);
  options.temp = folder;
  options.memory_bytes = memory_bytes;
  shuffle::LoadJob job(*alone, options);
  reading.workers = options.process.workers;
  summary = graph::convert_to(job, path, "", reading, report::progress_on_stderr());
  auto file = job.take_output();
  auto graph = Graph::open(file->path_for_others(), path);
  return {std::move(file), nullptr, std::move(graph)};
}

/// Converts the graph for this run. Throws Error, which names the command of the options.
Conversion convert_for_this_run(const std::string& path, const Reading& reading, std::uint64_t memory_bytes,
                                graph::BuildSummary& summary) {
  const std::string folder = temporary_folder();
  graph::ConvertOptions options = reading;
  const auto told = reading.format == graph::Format::automatic ? graph::format_of_file(path) : reading.format;
  try {
    const bool in_memory = memory_bytes == 0 || (path == "-" ? told == graph::Format::metis || reading.labels
                                                             : graph::reads_in_memory(path, reading));
    if (!in_memory) return convert_in(memory_bytes, path, options, folder, summary);
    auto file = OutputFile::nameless(folder);
    auto names = OutputFile::nameless(folder);
    options.table = names.get();
    auto graph = convert_to_temporary(path, *file, options, summary);
    if (graph.labelled()) graph.set_table(names->path_for_others());
    return {std::move(file), std::move(names), std::move(graph)};
  } catch (const Error& error) {
    const std::string text = error.what();
    if (!names_its_options(text)) throw;
    throw Error(text + " (options of `edgewire convert`)");
  }
}

}  // namespace

OpenGraph open_graph(const std::string& path, const Reading& reading, std::uint64_t memory_bytes) {
  const bool is_ours =
      path != "-" && (reading.format == graph::Format::automatic ? graph::is_ours(path)
                                                                 : reading.format == graph::Format::ew);
  if (is_ours && (reading.labels || !reading.columns.empty()))
    throw UsageError(fmt::format("{}: a graph file (.ew) has its names already: leave out {}", path,
                                 reading.labels ? "--labels" : "--columns"));
  if (is_ours) return {Graph::open(path), {}, nullptr, nullptr};
  if (const auto launcher = launch::find_launcher(); path == "-" && launcher)
    throw UsageError(
        fmt::format("-: under {} only one process gets stdin: convert it before (edgewire convert - -o g.ew)",
                    launcher->name));
  const auto start = Clock::now();
  graph::BuildSummary summary;
  auto [converted, names, graph] = convert_for_this_run(path, reading, memory_bytes, summary);
  const double seconds = seconds_since(start);
  note(fmt::format(
      "{}: converted for this run in {}: {} vertices, {} edges{}{}; `edgewire convert` keeps what it "
      "makes",
      path, readable_seconds(seconds), summary.vertices, summary.edges,
      summary.doubtful          ? "; third column may be a time, and is not used as weight"
      : summary.third_is_weight ? "; third column taken as weight"
                                : "",
      summary.compacted ? "; ids are sparse: only vertices with edges are kept" : ""));
  return {std::move(graph), seconds, std::move(converted), std::move(names)};
}

OpenGraph open_graph(const std::string& path, const Reading& reading, graph::Direction direction,
                     std::uint64_t memory_bytes) {
  OpenGraph opened = open_graph(path, reading, memory_bytes);
  if (direction == graph::Direction::out || opened.file.symmetric()) return opened;
  opened.file = graph::view(std::move(opened.file), direction, temporary_folder(), workers_or_default(0),
                            report::progress_on_stderr());
  return opened;
}

}  // namespace edgewire::cli
