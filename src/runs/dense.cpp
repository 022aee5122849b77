#include "runs/dense.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/seconds.h"
#include "dense/job/dense_job.h"
#include "dense/plan/block_plan.h"
#include "edgewire/program.h"
#include "perf/balance.h"
#include "perf/job_profile.h"
#include "runs/dense_report.h"
#include "runs/digest.h"
#include "runs/job_report.h"

namespace edgewire::runs {

namespace {

kernels::Rounding rounding_of(const job::DenseJob& job, const DenseKernel& kernel, plan::Encoding encoding) {
  return {kernel.doubles(), job.bootstrap().size() > 1 ? encoding : plan::Encoding::f32,
          partition::owns_edges(job.choices().ownership) ? 2 : 1};
}

/// Verifies the result at rank 0.
report::RunReport::Verification verify(const DenseKernel& kernel, const graph::GraphFile& graph,
                                       const graph::VertexNames& names, const kernels::Rounding& rounding,
                                       int iterations, std::span<const double> values) {
  const auto expected = kernel.reference(graph, iterations, rounding);
  const auto found = kernels::compare(expected, values, rounding);
  const std::string wire = !plan::is_rounded(rounding.wire)
                               ? ""
                               : fmt::format(", {} between processes", plan::to_name(rounding.wire));
  return {.max_relative_error = found.largest_error,
          .sum_error = found.sum_error,
          .limit = found.sum_limit,
          .vertex_limit = found.largest_limit,
          .limit_share = found.limit_share,
          .vertex = values.empty() ? "" : names(found.farthest),
          .rules = fmt::format("{} iterations, messages of {}{}, sums of up to {} doubles", iterations,
                               kernel.precision(), wire, std::max<std::uint64_t>(expected.longest_sum, 1)),
          .passed = found.passed()};
}

/// Returns the sum over the values of the owned vertices.
std::uint64_t checksum(const job::DenseJob& job, std::span<const double> values) {
  std::uint64_t sum = 0;
  const auto ids = job.owned().ids();
  for (OwnedIndex i{}; i < values.size(); ++i) sum += runs::checksum_of(ids[i], values[i]);
  return sum;
}

/// Adds what the kernel says to the report. Collective.
void describe(report::RunReport& report, const DenseKernel& kernel, const DenseStage& stage,
              const DenseOutcome& outcome, const kernels::Rounding& rounding,
              const graph::VertexNames& names) {
  report.kernel = kernel.name();
  report.graph = stage.job.graph().path();
  report.resumed_from = static_cast<std::uint64_t>(outcome.resumed_at);
  report.answer = kernel.answer(stage, outcome, names);
  report.rounding_bound = kernel.message_bound(outcome.done(), rounding);
  if (plan::is_rounded(rounding.wire)) report.wire_error_bound = report.rounding_bound;
  kernel.add_to(report, outcome);
}

std::optional<perf::Profiler> make_profiler(launch::Bootstrap& bootstrap, job::DenseJob& job,
                                            const DenseKernel& kernel, const DenseOptions& options) {
  if (!options.tools.profile) return {};
  auto asked = *options.tools.profile;
  asked.iterations = kernel.iterations();
  return std::optional<perf::Profiler>(std::in_place, perf::profiled(bootstrap, job.process()), asked);
}

DenseOutcome iterate(launch::Bootstrap& bootstrap, job::DenseJob& job, DenseKernel& kernel,
                     const DenseOptions& options, DenseStage& stage) {
  stage.checkpoints.emplace(
      job::Checkpointed{bootstrap, job.pool(), job.graph(), job.owned().ids(), sizeof(double),
                        fmt::format("{}, wire {}", kernel.state(), plan::to_name(options.job.encoding))},
      options.checkpoints, kernel.iterations());
  stage.run.iterations = kernel.iterations();
  stage.run.has_goal = kernel.has_goal();
  stage.run.progress = [&](int done) {
    if (options.tools.progress)
      options.tools.progress({"iterate", static_cast<std::uint64_t>(done),
                              static_cast<std::uint64_t>(kernel.iterations()), "iterations"});
  };
  stage.run.checkpoint = stage.checkpoints->written();
  stage.run.every = options.checkpoints.every;
  auto outcome = kernel.iterate(stage);
  stage.run.checkpoint = nullptr;
  stage.checkpoints.reset();  // their memory is not needed for what follows
  refuse_changed_files();
  return outcome;
}

}  // namespace

report::Answer DenseKernel::answer(const DenseStage& stage, const DenseOutcome& outcome,
                                   const graph::VertexNames& names) const {
  report::Answer answer;
  set_top(answer, "highest", process::Order::value, stage, outcome, names);
  return answer;
}

void DenseKernel::set_top(report::Answer& answer, const char* word, process::Order order,
                          const DenseStage& stage, const DenseOutcome& outcome,
                          const graph::VertexNames& names) {
  const std::uint64_t count = process::count_of_rank_0(stage.bootstrap, stage.tools.top.value_or(kTop));
  const auto ids = stage.job.owned().ids();
  const auto top = first_of_all(
      stage.bootstrap, count, ids.size(),
      [&](std::uint64_t i) {
        const OwnedIndex index(static_cast<std::uint32_t>(i));
        return std::optional(process::Candidate<double>{outcome.values[index], ids[index]});
      },
      order);
  if (stage.bootstrap.rank() == 0 && count > 0)
    runs::set_top(answer, word, top, names, stage.tools.top.has_value());
}

report::RunReport run_dense(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                            const graph::VertexNames& names, DenseKernel& kernel,
                            const DenseOptions& options) {
  const Tools& tools = options.tools;
  const bool first = bootstrap.rank() == 0;
  auto job_options = options.job;
  job_options.kernel =
      kernel.describe() + (tools.profile ? ", profiled" : "") + (tools.parts ? ", output in parts" : "");
  job_options.progress = tools.progress;
  job::DenseJob job(bootstrap, graph, job_options);
  refuse_changed_files();
  if (options.ready) options.ready(job);
  auto profiler = make_profiler(bootstrap, job, kernel, options);
  DenseStage stage{bootstrap, job, tools};
  stage.run.observer = profiler ? profiler->observer() : nullptr;
  std::optional<perf::BalanceWatch> watch;
  if (const auto* const disks = job.disk_tiles())
    watch.emplace(bootstrap, job.process(), disks->files().paths(),
                  static_cast<double>(options.job.link_bits_per_s));
  const DenseOutcome outcome = iterate(bootstrap, job, kernel, options, stage);
  if (watch) watch->end_step("iterations");
  const double busy_s = watch ? watch->disk_s() : 0;
  if (tools.progress) tools.progress({});
  const double seconds_total = seconds_since(tools.start);
  disk::ReadFigures disk;
  if (watch) {
    disk = job.measure_disks();
    for (const auto& one : outcome.iterations) disk.seconds += one.seconds;
    disk.seconds_busy = std::min(busy_s, disk.seconds);  // the disk may have been busy before
  }
  DenseFinished done{
      job,
      kernel,
      outcome.values,
      {},
      gather_report(job, options.job, outcome.iterations, seconds_total, checksum(job, outcome.values))};
  if (watch) done.report.disk = gather_disk(bootstrap, job.disk_tiles()->files(), disk, *watch);
  const auto rounding = rounding_of(job, kernel, options.job.encoding);
  describe(done.report, kernel, stage, outcome, rounding, names);
  if (profiler) {
    auto profile = profiler->gather(perf::facts_of(bootstrap, job, disk, outcome.iterations.size()));
    if (first) perf::add_to(done.report, std::move(profile));
  }
  if (!bootstrap.allgather(tools.verify || tools.gather ? "wanted" : "")[0].empty())
    done.all = job::gather_values(job, outcome.values);
  if (first && tools.verify)
    done.report.verification.push_back(verify(kernel, graph, names, rounding, outcome.done(), done.all));
  if (options.finished) options.finished(done);
  return std::move(done.report);
}

void expect_right(const report::RunReport& report, const DenseKernel& kernel) {
  for (const auto& check : report.verification)
    if (!check.passed)
      throw Error(fmt::format(
          "the result differs from the reference: the {} of vertex {} by {:.3g} times what rounding can do; "
          "in sum by {:.2g} (limit {:.2g})",
          kernel.value(), check.vertex, check.limit_share, check.sum_error, check.limit));
}

}  // namespace edgewire::runs
