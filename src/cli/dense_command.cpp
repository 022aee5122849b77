#include "cli/dense_command.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "cli/interrupt.h"
#include "cli/output_parts.h"
#include "cli/stages.h"
#include "cli/top.h"
#include "cli/vertex_lines.h"
#include "error.h"
#include "graph/mapped_file.h"
#include "graph/output_folder.h"
#include "graph/vertex_names.h"
#include "job/gather.h"
#include "perf/job_report.h"
#include "perf/profile.h"
#include "perf/trace.h"

namespace edgewire::cli {

namespace {

report::RunReport::Verification verify(const kernels::Reference& expected, std::span<const double> values,
                                       const kernels::ErrorBound& limits) {
  report::RunReport::Verification result;
  double differences = 0, sum = 0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    const double scale = expected.scales.empty() ? std::fabs(expected.values[v]) : expected.scales[v];
    const double difference = std::fabs(values[v] - expected.values[v]);
    const double error = scale == 0 ? difference : difference / scale;
    if (!(error <= result.max_relative_error)) result.max_relative_error = error;  // keeps NaN
    differences += difference;
    sum += scale;
  }
  result.sum_error = sum == 0 ? differences : differences / sum;
  result.limit = limits.in_sum;
  result.vertex_limit = limits.vertex;
  result.passed = result.sum_error <= result.limit && result.max_relative_error <= result.vertex_limit;
  return result;
}

std::string to_lines(const graph::GraphFile& graph, std::span<const double> values, int digits) {
  VertexLines lines(graph);
  for (std::uint32_t v = 0; v < values.size(); ++v) lines.add(v, values[v], digits);
  return lines.take();
}

/// Of the owned vertices, `values` by index.
std::string owned_lines(const job::DenseJob& job, std::span<const double> values, int digits) {
  VertexLines lines(job.graph());
  for (const std::uint32_t index : job.owned().indexes())
    lines.add(job.owned().ids()[index], values[index], digits);
  return lines.take();
}

/// At rank 0: page and trace.
void write_profile(const perf::Profile& profile, const JobOptions& options, const std::string& what,
                   report::RunReport& report) {
  report.profile_json = profile.to_json();
  report.profile_text = profile.to_text();
  if (!options.profile_path.empty()) {
    write_whole(
        options.profile_path,
        profile.to_html(fmt::format("{} of {}", what, options.graph_path),
                        fmt::format("processes {}, workers of each {}, {}, strategy {}", report.processes,
                                    report.workers, report.link.transport, report.strategy)));
  }
  if (!options.trace_path.empty()) write_whole(options.trace_path, perf::to_trace(profile));
}

}  // namespace

std::string DenseCommand::state(const DenseStage& stage) const {
  const auto& graph = stage.job.graph();
  return fmt::format("{}, wire {}, graph {:016x} with {} vertices and {} edges", state(),
                     plan::to_name(stage.options.encoding), graph.checksum(), graph.vertices(),
                     graph.edges());
}

/// What the checkpoint holds; rank 0 says how far that is. Throws UsageError when the run would end before.
job::ResumedState DenseCommand::take_up(const DenseStage& stage) const {
  auto state = job::resume(stage.bootstrap, resume_, this->state(stage), stage.job);
  if (state.iteration > static_cast<std::uint64_t>(iterations())) {
    throw UsageError(fmt::format(
        "--iterations {}: the checkpoint in {} is from after iteration {}, say --iterations {} or more",
        iterations(), resume_, state.iteration, state.iteration));
  }
  if (stage.bootstrap.rank() == 0 && job_.stdout_is_free())
    write_whole("-", fmt::format("continues after iteration {} from the checkpoint in {}\n", state.iteration,
                                 resume_));
  return state;
}

std::unique_ptr<job::Checkpoint> DenseCommand::make_checkpoint(const DenseStage& stage) const {
  if (checkpoint_.empty()) return nullptr;
  return std::make_unique<job::Checkpoint>(stage.bootstrap, stage.job, checkpoint_, state(stage), resume_);
}

/// At rank 0: checks the result and writes the report and, where it is one file, the output.
void DenseCommand::conclude(const graph::GraphFile& graph, const kernels::ErrorBound& limits, int iterations,
                            std::span<const double> values, report::RunReport& report) const {
  if (job_.verify) report.verification.push_back(verify(reference(graph, iterations), values, limits));
  const bool right = !job_.verify || report.verification[0].passed;
  if (!job_.json_path.empty()) write_whole(job_.json_path, report.to_json());
  if (right && !job_.output_path.empty() && !job_.output_parts)
    write_whole(job_.output_path, to_lines(graph, values, digits()));
  if (right) return;
  if (job_.stdout_is_free()) write_whole("-", report.to_text());
  const auto& check = report.verification[0];
  throw Error(
      fmt::format("the result differs from the reference: in sum by {:.2g} (limit {:.2g}), a single {} by "
                  "{:.2g} (limit {:.2g})",
                  check.sum_error, check.limit, value_, check.max_relative_error, check.vertex_limit));
}

void DenseCommand::check_outputs(launch::Bootstrap& bootstrap) const {
  if (parts()) check_part_writable(bootstrap, job_.output_path);
  if (bootstrap.rank() != 0) return;
  if (!parts()) check_writable(job_.output_path);
  check_writable(job_.json_path);
  check_writable(job_.profile_path);
  check_writable(job_.trace_path);
}

/// One process of the job.
void DenseCommand::run(launch::Bootstrap& bootstrap, const graph::GraphFile& graph) {
  const auto start = std::chrono::steady_clock::now();
  auto options = job_.dense(bootstrap);
  job_.edge_place.apply_to_tiles(options, bootstrap, graph);
  options.kernel =
      describe() + (job_.profiled() ? ", profiled" : "") + (job_.output_parts ? ", output in parts" : "");
  const bool first = bootstrap.rank() == 0;
  check_outputs(bootstrap);
  if (first && graph.weighted() && !options.weighted)
    note(fmt::format("{} has weights, which are ignored: --weighted uses them", graph.path()));
  options.progress = stages_on_terminal("", first);
  std::optional<InterruptLine> interrupt_line;
  if (first) {
    interrupt_line.emplace();
    options.progress = InterruptLine::listen(options.progress);
  }
  job::DenseJob job(bootstrap, graph, options);
  graph::refuse_changed_files();
  if (first && !job.plan_cache_note().empty()) note("warning: " + job.plan_cache_note());
  std::optional<perf::Profiler> profiler;
  if (job_.profiled()) {
    const std::chrono::duration<double> interval(job_.sample_interval_s);
    profiler.emplace(
        bootstrap, job, options,
        perf::ProfileOptions{iterations(), std::chrono::duration_cast<std::chrono::milliseconds>(interval)});
  }
  DenseStage stage{bootstrap, job, options};
  stage.run.iterations = iterations();
  stage.run.has_goal = has_goal();
  stage.run.progress = [&](int done) {
    options.progress("iterate", static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(iterations()));
  };
  stage.run.observer = profiler ? profiler->observer() : nullptr;
  stage.run.every = every_;
  const DenseOutcome outcome = iterate(stage);
  graph::refuse_changed_files();
  options.progress = {};  // takes the bar away
  const std::chrono::duration<double> total = std::chrono::steady_clock::now() - start;
  if (job.disk_tiles() != nullptr) job.measure_disks();
  auto report = perf::gather_report(bootstrap, job, options, kernel_,
                                    {outcome.iterations, total.count(), job::checksum(job, outcome.values)});
  const int done = outcome.taken_up + static_cast<int>(outcome.iterations.size());
  const auto limits = error_bound(job, options, done, bootstrap.size());
  report.graph = job_.graph_path;
  report.seconds_convert = seconds_convert_;
  report.resumed_from = static_cast<std::uint64_t>(outcome.taken_up);
  report.top = top_vertices(bootstrap, job, top_, [&](std::uint32_t i) { return outcome.values[i]; });
  report.rounding_bound = limits.in_sum;
  if (std::isinf(limits.vertex)) report.wire_error_bound = limits.in_sum;
  add_to(report, outcome);
  report.options.emplace_back("direction", job_.direction);
  if (profiler) {
    const auto profile = profiler->gather();
    if (first) write_profile(profile, job_, describe(), report);
  }
  std::vector<double> values;
  const bool wanted = job_.verify || !(job_.output_path.empty() || parts());
  if (!bootstrap.allgather(wanted ? "wanted" : "")[0].empty())
    values = job::gather_values(job, outcome.values);
  if (first) conclude(graph, limits, done, values, report);
  if (parts()) write_part(bootstrap, job_.output_path, owned_lines(job, outcome.values, digits()));
  if (first && job_.stdout_is_free()) write_whole("-", report.to_text());
}

void DenseCommand::start() {
  if (top_ > 0 && job_.output_path == "-")
    throw UsageError("--top and -o -: only one of them can have stdout");
  if (job_.encoding != "f32" && !(checkpoint_ + resume_).empty())
    throw UsageError("--checkpoint and --resume need --wire f32: others carry rounding errors along");
  if (job_.output_parts && (job_.output_path.empty() || job_.output_path == "-"))
    throw UsageError("--output-parts needs -o with the name that the parts begin with");
  job_.edge_place.check();
  // One message instead of one from each process, which inherits the mapping.
  const auto opened = open_graph(job_.graph_path, job_.direction, job_.edge_place.memory_bytes);
  const graph::GraphFile& graph = opened.file;
  seconds_convert_ = opened.seconds_convert;
  if (!job_.output_path.empty() || top_ > 0) const graph::VertexNames names(graph);
  prepare(graph);
  job_.check(graph);
  std::optional<graph::OutputFolder> folder;
  if (!checkpoint_.empty()) folder.emplace(checkpoint_, graph::OutputFolder::Parents::are_made);
  const int status = run_job(job_.launch, [&](launch::Bootstrap& bootstrap) {
    if (folder) adopt_folder(bootstrap, *folder);
    run(bootstrap, graph);
  });
  if (status != 0) throw CLI::RuntimeError(status);
  if (folder) folder->keep();
}

void DenseCommand::complete(CLI::App& command, const std::shared_ptr<DenseCommand>& self) {
  self->job_.add_to(command);
  self->job_.edge_place.add_to(command, self->job_.launch);
  command.option_defaults()->group("Output");
  command
      .add_option("--top", self->top_,
                  fmt::format("print the K vertices of highest {}, highest first", self->value_))
      ->type_name("K")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32));
  command.option_defaults()->group("Checkpoints");
  CLI::Option* const checkpoint = command.add_option(
      "--checkpoint", self->checkpoint_,
      fmt::format("keep the {}s in this folder, which all hosts see, whole or not at all", self->value_));
  writes(checkpoint, Form::folder, inside(checkpoint_names()));
  command.add_option("--every", self->every_, "write a checkpoint every so many iterations")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str()
      ->needs(checkpoint);
  reads(command.add_option("--resume", self->resume_,
                           "go on from the checkpoint in this folder, also with another number of processes"),
        inside(checkpoint_names()));
  command.callback([self] { self->start(); });
}

}  // namespace edgewire::cli
