#include "cli/dense_command.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "cli/common.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "cli/output_parts.h"
#include "cli/profile_files.h"
#include "graph/vertex_names.h"
#include "process/interrupt.h"
#include "report/progress.h"

namespace edgewire::cli {

namespace {

runs::Values shown(const runs::DenseFinished& done, std::span<const double> values) {
  return {runs::Values::Form::number, values, done.kernel.digits()};
}

/// The lines of the vertices that this process owns, in the order of their local numbers.
std::string owned_lines(const runs::DenseFinished& done) {
  const auto& owned = done.job.owned();
  std::vector<VertexId> ids;
  std::vector<double> values;
  for (const OwnedIndex index : owned.indexes()) {
    ids.push_back(owned.ids()[index]);
    values.push_back(done.own[index]);
  }
  return runs::lines_of(done.job.graph(), ids, shown(done, values));
}

/// Writes all that the run writes, the result only if it is right. Collective.
void conclude(launch::Bootstrap& bootstrap, const runs::DenseFinished& done, const DenseSettings& settings) {
  const bool first = bootstrap.rank() == 0;
  if (first) {
    write_profile_files(
        done.report, settings,
        fmt::format("{} of {}, strategy {}", done.report.kernel, settings.graph_path, done.report.strategy));
    if (!settings.json_path.empty()) write_whole(settings.json_path, done.report.to_json());
    if (!done.report.is_right() && settings.stdout_is_free()) write_whole("-", done.report.to_text());
    runs::expect_right(done.report, done.kernel);
    if (!settings.output_path.empty() && !settings.parts())
      write_whole(settings.output_path, runs::lines_of_all(done.job.graph(), shown(done, done.all)));
  }
  if (settings.parts()) write_part(bootstrap, settings.output_path, owned_lines(done));
  if (first && settings.stdout_is_free()) write_whole("-", done.report.to_text());
}

/// One process of the job.
void run_process(launch::Bootstrap& bootstrap, const OpenGraph& opened, const graph::VertexNames& names,
                 const DenseSettings& settings, runs::DenseKernel& kernel) {
  runs::DenseOptions options;
  options.tools = settings.tools();
  options.job = settings.dense(bootstrap);
  settings.edge_place.apply_to_tiles(options.job, bootstrap, opened.file);
  options.checkpoints = settings.checkpoint_options();
  const bool first = bootstrap.rank() == 0;
  check_outputs_writable(bootstrap, settings, settings.output_path);
  if (first && opened.file.weighted() && !options.job.weighted)
    note(fmt::format("{} has weights, which are ignored{}", opened.file.path(),
                     opened.file.weights_doubtful() ? "" : ": --weighted uses them"));
  std::optional<process::InterruptLine> interrupt_line;
  if (first) {
    interrupt_line.emplace("the first iteration");
    options.tools.progress = process::InterruptLine::listen(report::progress_on_terminal());
  }
  options.ready = [&](const job::DenseJob& job) {
    if (first && !job.cache_use().note.empty()) note("warning: " + job.cache_use().note);
  };
  options.finished = [&](runs::DenseFinished& done) {
    done.report.graph = settings.graph_path;
    done.report.seconds_convert = opened.seconds_convert;
    done.report.options.emplace_back("direction", settings.direction);
    conclude(bootstrap, done, settings);
  };
  runs::run_dense(bootstrap, opened.file, names, kernel, options);
}

}  // namespace

void add_dense_options(CLI::App& command, DenseSettings& settings, const std::string& value,
                       const std::string& listed) {
  settings.add_to(command);
  settings.edge_place.add_to(command, settings.launch);
  settings.add_output_options(
      command, "the result to this file as lines of id, tab and value",
      "check the result against a sequential reference, and exit with 1 when it differs", listed, runs::kTop);
  add_profile_options(command, settings);
  settings.add_checkpoint_options(command, value, "iteration");
}

void run_dense(const DenseSettings& settings, const PrepareDense& prepare) {
  settings.check_outputs();
  if (settings.encoding != "f32" && settings.checkpoints.any())
    throw UsageError("--checkpoint and --resume need --wire f32: others carry rounding errors along");
  settings.edge_place.check();
  // One message instead of one from each process, which inherits the mapping.
  const auto opened =
      open_graph(settings.graph_path, settings.reading, settings.direction, settings.edge_place.memory_bytes);
  const graph::VertexNames names(opened.file);  // inherited, too
  const MakeDense make = prepare(opened.file);
  settings.check(opened.file);
  const int status = run_keeping(settings, [&](launch::Bootstrap& bootstrap) {
    run_process(bootstrap, opened, names, settings, *make());
  });
  if (status != 0) throw CLI::RuntimeError(status);
}

void RankSettings::add_rank_options(CLI::App& command) {
  command.option_defaults()->group("Kernel");
  command.add_option("--iterations", asked.iterations, "stop after this many iterations")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command.add_option("--damping", asked.damping, "let this share of a rank follow the edges")
      ->check(between(0, 1))
      ->capture_default_str();
  command
      .add_option("--tolerance", asked.tolerance,
                  "stop when all changes of an iteration sum to less than this; 0: never")
      ->check(between(0, 1e9))
      ->capture_default_str();
}

kernels::PageRankOptions RankSettings::options() const {
  auto result = asked;
  result.weighted = weighted;
  return result;
}

}  // namespace edgewire::cli
