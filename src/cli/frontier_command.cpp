#include "cli/frontier_command.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "cli/job_options.h"
#include "graph/vertex_names.h"
#include "process/interrupt.h"
#include "report/progress.h"

namespace edgewire::cli {

namespace {

/// Returns where the result of run `run` goes: "{}" in the option stands for the name of the run, if it has
/// one.
std::string output_path(const KernelOptions& asked, const std::vector<std::string>& names, std::size_t run) {
  std::string path = asked.output_path;
  if (path.empty() || names.empty()) return path;
  const std::size_t place = path.find("{}");
  if (place == path.npos)
    throw UsageError(
        fmt::format("-o {}: each run writes a file: put {{}} into the name, which stands for the "
                    "source, as in -o values-{{}}.tsv",
                    path));
  if (names[run].find('/') != std::string::npos)
    throw Error(
        fmt::format("-o {}: the source {} has a / in its name and cannot name a file: choose it with "
                    "--source",
                    path, names[run]));
  path.replace(place, 2, names[run]);
  asked.check_result_name(path);
  if (path == "-" && !asked.output_parts)
    throw Error(
        fmt::format("-o {}: the source - would write to stdout: put more than {{}} into the name, as in "
                    "-o values-{{}}.tsv",
                    asked.output_path));
  return path;
}

/// Writes the values of a run after it. Collective.
void write_values(frontier::FrontierJob& job, const runs::Kernel& kernel, const std::string& path,
                  bool parts) {
  if (path.empty()) return;
  const auto& graph = job.graph();
  const auto form = runs::text_form_of(path);
  if (!parts) {
    if (job.rank() == 0) write_whole(path, runs::text_of_all(graph, kernel.all(), form));
    return;
  }
  write_part(
      job.bootstrap(), path,
      kernel.is_whole()
          ? runs::text_of_owned(job.bootstrap(), graph, job.ownership(), kernel.all(), form)
          : runs::text_of(graph, runs::owned_vertices(job.ownership(), job.rank()), kernel.own(), form));
}

/// Runs one process of the job.
void run_process(launch::Bootstrap& bootstrap, const OpenGraph& opened, const graph::VertexNames& names,
                 const KernelOptions& asked, runs::Kernel& kernel) {
  runs::FrontierOptions options;
  options.tools = asked.tools();
  const auto runs = kernel.runs();
  check_outputs_writable(bootstrap, asked, output_path(asked, runs, 0));
  options.job.process = asked.process(bootstrap);
  options.job.ownership = asked.ownership;
  options.job.rows = partition::row_reading_from(asked.rows);
  options.job.disks = asked.edge_place.rows(kernel.weighted(), bootstrap, opened.file);
  const bool first = bootstrap.rank() == 0;
  std::optional<process::InterruptLine> interrupt_line;
  if (first) {
    interrupt_line.emplace("the first superstep");
    options.tools.progress = process::InterruptLine::listen(report::progress_on_stderr());
  }
  options.finished = [&](frontier::FrontierJob& job, runs::Kernel&, std::size_t r) {
    write_values(job, kernel, output_path(asked, runs, r), asked.parts());
  };
  auto report = runs::run_frontier(bootstrap, opened.file, names, kernel, options);
  report.graph = asked.graph_path;
  report.seconds_convert = opened.seconds_convert;
  if (!first) return;
  write_profile_files(report, asked, fmt::format("{} of {}", report.kernel, asked.graph_path));
  if (!asked.json_path.empty()) write_whole(asked.json_path, report.to_json());
  if (asked.stdout_is_free()) show(report.to_text(asked.verbose));
}

/// Says what is wrong with options of kernels that sweep tiles, where others are asked for the same.
void refuse_tile_options(CLI::App& command) {
  for (const std::string option : {"--order", "--layout", "--strategy", "--wire"}) {
    const auto refuse = [option, kernel = command.get_name()](const std::string&) {
      throw UsageError(
          fmt::format("{} is of pagerank, ppr and spmv, which have tiles; {} follows the edges of a "
                      "frontier: leave it out",
                      option, kernel));
    };
    command.add_option_function<std::string>(option, refuse)->group("");
  }
}

}  // namespace

void add_frontier_options(CLI::App& command, KernelOptions& options, const std::function<void()>& own,
                          const FrontierWords& words) {
  command.footer(words.footer);
  options.add_to(command);
  command.option_defaults()->group("Kernel");
  own();
  command.option_defaults()->group("What is sent");
  reads(command
            .add_option("--ownership", options.ownership,
                        "who owns a vertex: hash, ranges, or a partition file with a part for each line")
            ->check([](const std::string& how) {
              partition::check_ownership_name(how, partition::kVertexOwnershipNames);
              return std::string();
            })
            ->capture_default_str(),
        partition_files);
  command.add_flag("--deterministic", options.deterministic,
                   "give bit-identical results from run to run: bfs --parents takes the smallest of several "
                   "parents, bc adds up in a fixed order; the other kernels always do");
  refuse_tile_options(command);
  options.add_output_options(command, words.output, words.verify, words.listed, words.listed_by_default);
  command.add_flag("--bound", options.bound,
                   "also count what had to be sent, as `edgewire bound` does, in sequence at rank 0, and "
                   "report it beside what was sent");
  add_profile_options(command, options);
}

void run_frontier(const KernelOptions& options,
                  const std::function<std::unique_ptr<runs::Kernel>(const graph::GraphFile&)>& make) {
  if (options.ownership.starts_with("auto") && (options.ownership.size() == 4 || options.ownership[4] == ','))
    throw UsageError(
        "--ownership auto counts what pagerank would send: name hash, ranges or a partition file");
  options.check_outputs();
  options.edge_place.check();
  const auto opened = open_graph(options.graph_path, options.reading,
                                 options.edge_place.memory_bytes);  // processes inherit the mapping
  const graph::GraphFile& graph = opened.file;
  const graph::VertexNames vertex_names(graph);  // inherited, too
  frontier::Options known;
  known.ownership = options.ownership;
  frontier::check(known, graph);
  const auto kernel = make(graph);
  const auto names = kernel->runs();
  std::vector<NamedFile> files;
  for (std::size_t r = 0; r < names.size(); ++r) {
    const std::string path = output_path(options, names, r);
    files.push_back(options.output_parts ? parts_of(path) : NamedFile{path});
  }
  if (!options.output_path.empty() && !files.empty()) check_files(*options.owner, "-o", files);
  run_keeping(options, [&](launch::Bootstrap& bootstrap) {
    run_process(bootstrap, opened, vertex_names, options, *kernel);
  });
}

}  // namespace edgewire::cli
