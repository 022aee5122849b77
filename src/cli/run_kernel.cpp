// This file runs a kernel for its command: the graph, the processes, and all that the run writes.
#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/kernel_options.h"
#include "cli/program.h"
#include "options/kernels.h"
#include "process/interrupt.h"
#include "process/job_folder.h"
#include "report/progress.h"

namespace edgewire::cli {

namespace {

/// Returns the path for the result of run `run`: "{}" in the option stands for the name of the run, if it has
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

/// Checks all that a run writes, as check_writable() does. Collective.
void check_outputs_writable(launch::Bootstrap& bootstrap, const KernelOptions& asked,
                            const std::string& result) {
  if (asked.parts()) check_part_writable(bootstrap, result);
  if (bootstrap.rank() != 0) return;
  if (!asked.parts()) check_writable(result);
  check_report_files(asked);
}

/// Writes the values of a run. Collective.
void write_values(launch::Bootstrap& bootstrap, const Graph& graph, const runs::Finished& done,
                  const std::string& path, bool parts) {
  const auto form = runs::text_form_of(path);
  if (path.empty()) return;
  if (parts)
    write_part(bootstrap, path, done.text_of_owned(form));
  else if (bootstrap.rank() == 0)
    write_whole(path, runs::text_of_all(graph, done.all, form));
}

/// Writes and shows the report, at rank 0. Throws Error where it says that the result is wrong.
void conclude(report::RunReport& report, const OpenGraph& opened, const KernelOptions& asked,
              const runs::Kernel& kernel) {
  report.graph = asked.graph_path;
  report.seconds_convert = opened.seconds_convert;
  if (kernel.has_tiles()) report.options.emplace_back("direction", word_of(opt::direction, asked.direction));
  for (const auto& one : report.convergence)
    if (!one.unmet.empty()) note(one.unmet);
  write_profile_files(report, asked,
                      fmt::format("{} of {}{}", report.kernel, asked.graph_path,
                                  kernel.has_tiles() ? ", strategy " + report.strategy : ""));
  if (!asked.json_path.empty()) write_whole(asked.json_path, report.to_json());
  if (asked.take_report)
    asked.take_report(report);
  else if (asked.stdout_is_free())
    show(report.to_text(asked.verbose));
  runs::expect_right(report);
}

/// Runs one process of the job.
void run_process(launch::Bootstrap& bootstrap, const OpenGraph& opened, const graph::VertexNames& names,
                 const KernelOptions& asked, runs::Kernel& kernel) {
  const bool first = bootstrap.rank() == 0;
  const auto runs = kernel.runs();
  check_outputs_writable(bootstrap, asked, output_path(asked, runs, 0));
  runs::RunOptions options{asked.job(bootstrap), asked.tools(), asked.checkpoint_options()};
  asked.edge_place.apply_to(options.job, bootstrap, opened.file, kernel);
  if (first && kernel.has_tiles() && opened.file.weighted() && !kernel.weighted()) {
    const bool asks = asked.owner->get_option_no_throw(fmt::format("--{}", opt::weighted.name)) != nullptr;
    note(fmt::format("{} has weights, which are ignored{}", opened.file.path(),
                     !asks || opened.file.weights_doubtful() ? "" : ": --weighted uses them"));
  }
  std::optional<process::InterruptLine> interrupt_line;
  if (first) {
    interrupt_line.emplace(kernel.has_tiles() ? "the first iteration" : "the first superstep");
    options.tools.progress = process::InterruptLine::listen(report::progress_on_stderr());
  }
  options.finished = [&](const runs::Finished& done) {
    write_values(bootstrap, opened.file, done, output_path(asked, runs, done.run), asked.parts());
  };
  auto report = kernel.run(bootstrap, opened.file, names, options);
  if (first) conclude(report, opened, asked, kernel);
}

/// Runs the job as run_job() does. It makes the folder of checkpoints before; the folder is removed again
/// where the job leaves it empty. Throws Error.
void run_keeping(const KernelOptions& options, const std::function<void(launch::Bootstrap&)>& process) {
  constexpr auto kParents = OutputFolder::Parents::are_made;
  const std::string& checkpoints = options.checkpoints.folder;
  if (checkpoints.empty()) return run_job(options.launch, process);
  run_job_into(checkpoints, kParents, options.launch, [&](launch::Bootstrap& bootstrap) {
    const auto folder = process::make_folder(bootstrap, checkpoints, kParents);
    process(bootstrap);
  });
}

}  // namespace

void run_kernel(KernelOptions& options, const MakeKernel& make) {
  const auto* const program = dynamic_cast<const Program*>(options.owner->get_parent());
  if (program != nullptr && program->take_kernel) return program->take_kernel(options, make);
  options.check();
  run_on(open_graph(options.graph_path, options.reading, options.direction, options.edge_place.memory_bytes),
         options, make);
}

void run_on(const OpenGraph& opened, const KernelOptions& options, const MakeKernel& make) {
  const graph::VertexNames vertex_names(opened.file);  // processes inherit it, as they do the mapping
  const auto kernel = make(opened.file);
  options.check_job(opened.file, *kernel);
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
