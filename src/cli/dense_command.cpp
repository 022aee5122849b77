#include "cli/dense_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "cli/common.h"
#include "cli/files.h"
#include "cli/graph_files.h"
#include "cli/interrupt.h"
#include "cli/output_parts.h"
#include "cli/stages.h"
#include "cli/vertex_lines.h"
#include "error.h"
#include "graph/mapped_file.h"
#include "graph/output_folder.h"
#include "graph/vertex_names.h"
#include "job/gather.h"
#include "perf/job_report.h"
#include "perf/profile.h"
#include "perf/trace.h"
#include "plan/block_plan.h"

namespace edgewire::cli {

namespace {

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

kernels::Rounding DenseCommand::rounding(const DenseStage& stage) const {
  return {doubles(), stage.bootstrap.size() > 1 ? stage.options.encoding : plan::Encoding::f32,
          plan::owns_edges(stage.job.ownership_name()) ? 2 : 1};
}

/// At rank 0.
void DenseCommand::verify(const graph::GraphFile& graph, const graph::VertexNames& names,
                          const kernels::Rounding& rounding, int iterations, std::span<const double> values,
                          report::RunReport& report) const {
  const auto expected = reference(graph, iterations, rounding);
  const auto found = kernels::compare(expected, values, rounding);
  const std::string wire = !plan::is_rounded(rounding.wire)
                               ? ""
                               : fmt::format(", {} between processes", plan::to_name(rounding.wire));
  report.verification.push_back(
      {.max_relative_error = found.largest_error,
       .sum_error = found.sum_error,
       .limit = found.sum_limit,
       .vertex_limit = found.largest_limit,
       .limit_share = found.limit_share,
       .vertex = values.empty() ? "" : names(found.farthest),
       .rules = fmt::format("{} iterations, messages of {}{}, sums of up to {} doubles", iterations,
                            job_.precision, wire, std::max<std::uint64_t>(expected.longest_sum, 1)),
       .passed = found.passed()});
}

/// At rank 0: writes the report and, where it is one file and the result is right, the output.
void DenseCommand::conclude(const graph::GraphFile& graph, std::span<const double> values,
                            report::RunReport& report) const {
  const bool right = report.verification.empty() || report.verification[0].passed;
  if (!job_.json_path.empty()) write_whole(job_.json_path, report.to_json());
  if (right && !job_.output_path.empty() && !job_.output_parts)
    write_whole(job_.output_path, to_lines(graph, values, digits()));
  if (right) return;
  if (job_.stdout_is_free()) write_whole("-", report.to_text());
  const auto& check = report.verification[0];
  throw Error(
      fmt::format("the result differs from the reference: the {} of vertex {} by {:.3g} times what rounding "
                  "can do; in sum by {:.2g} (limit {:.2g})",
                  value_, check.vertex, check.limit_share, check.sum_error, check.limit));
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
void DenseCommand::run(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                       const graph::VertexNames& names) {
  const auto start = std::chrono::steady_clock::now();
  auto options = job_.dense(bootstrap);
  job_.edge_place.apply_to_tiles(options, bootstrap, graph);
  options.kernel =
      describe() + (job_.profiled() ? ", profiled" : "") + (job_.output_parts ? ", output in parts" : "");
  const bool first = bootstrap.rank() == 0;
  check_outputs(bootstrap);
  if (first && graph.weighted() && !options.weighted)
    note(fmt::format("{} has weights, which are ignored{}", graph.path(),
                     graph.weights_doubtful() ? "" : ": --weighted uses them"));
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
  const auto rounding = this->rounding(stage);
  report.graph = job_.graph_path;
  report.seconds_convert = seconds_convert_;
  report.resumed_from = static_cast<std::uint64_t>(outcome.taken_up);
  report.answer = answer(stage, outcome, names);
  report.rounding_bound = message_bound(done, rounding);
  if (plan::is_rounded(rounding.wire)) report.wire_error_bound = report.rounding_bound;
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
  if (first && job_.verify) verify(graph, names, rounding, done, values, report);
  if (first) conclude(graph, values, report);
  if (parts()) write_part(bootstrap, job_.output_path, owned_lines(job, outcome.values, digits()));
  if (first && job_.stdout_is_free()) write_whole("-", report.to_text());
}

report::Answer DenseCommand::answer(const DenseStage& stage, const DenseOutcome& outcome,
                                    const graph::VertexNames& names) const {
  report::Answer answer;
  set_top(answer, "highest", exchange::Order::value, stage, outcome, names);
  return answer;
}

void DenseCommand::set_top(report::Answer& answer, const char* word, exchange::Order order,
                           const DenseStage& stage, const DenseOutcome& outcome,
                           const graph::VertexNames& names) const {
  const std::uint64_t count = exchange::count_of_rank_0(stage.bootstrap, job_.top.value_or(kTop));
  const auto ids = stage.job.owned().ids();
  const auto top = first_of_all(
      stage.bootstrap, count, ids.size(),
      [&](std::uint32_t i) {
        return std::optional(exchange::Candidate{outcome.values[i], ids[i]});
      },
      order);
  if (stage.bootstrap.rank() == 0 && count > 0) cli::set_top(answer, word, top, names, job_.top.has_value());
}

void DenseCommand::start() {
  expect_stdout_for("--top", job_.top.value_or(0) > 0, job_);
  if (job_.encoding != "f32" && !(checkpoint_ + resume_).empty())
    throw UsageError("--checkpoint and --resume need --wire f32: others carry rounding errors along");
  if (job_.output_parts && (job_.output_path.empty() || job_.output_path == "-"))
    throw UsageError("--output-parts needs -o with the name that the parts begin with");
  job_.edge_place.check();
  // One message instead of one from each process, which inherits the mapping.
  const auto opened = open_graph(job_.graph_path, job_.reading, job_.direction, job_.edge_place.memory_bytes);
  const graph::GraphFile& graph = opened.file;
  seconds_convert_ = opened.seconds_convert;
  const graph::VertexNames names(graph);  // inherited, too
  prepare(graph);
  job_.check(graph);
  std::optional<graph::OutputFolder> folder;
  if (!checkpoint_.empty()) folder.emplace(checkpoint_, graph::OutputFolder::Parents::are_made);
  const int status = run_job(job_.launch, [&](launch::Bootstrap& bootstrap) {
    if (folder) adopt_folder(bootstrap, *folder);
    run(bootstrap, graph, names);
  });
  if (status != 0) throw CLI::RuntimeError(status);
  if (folder) folder->keep();
}

void DenseCommand::complete(CLI::App& command, const std::shared_ptr<DenseCommand>& self) {
  add_rule_of_weights(command);
  self->job_.add_to(command);
  self->job_.edge_place.add_to(command, self->job_.launch);
  command.option_defaults()->group("Output");
  add_top_option(command, self->job_, self->listed(), kTop);
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
