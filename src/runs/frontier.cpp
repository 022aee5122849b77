#include "runs/frontier.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/seconds.h"
#include "perf/balance.h"
#include "perf/job_profile.h"
#include "process/barrier.h"
#include "runs/frontier_report.h"
#include "runs/job_report.h"

namespace edgewire::runs {

namespace {

void run_one(frontier::FrontierJob& job, Kernel& kernel, perf::Profiler* profiler, FrontierRuns& runs) {
  process::barrier(job.bootstrap(), job.link());  // no run waits for the end of the one before
  const perf::ProfiledRun profiled(profiler);
  const auto start = Clock::now();
  const auto supersteps = kernel.run(job);
  runs.add(supersteps, seconds_since(start));
  runs.seconds_kernel += runs.seconds.back();
}

/// Does all runs at once, if the kernel can; they are one superstep for a profile.
std::vector<std::vector<frontier::Superstep>> run_at_once(frontier::FrontierJob& job, Kernel& kernel,
                                                          perf::Profiler* profiler) {
  const perf::ProfiledRun profiled(profiler);
  auto steps = kernel.run_at_once(job);
  if (profiler != nullptr && !steps.empty()) profiler->end_step("search from all sources");
  return steps;
}

/// Verifies the result at rank 0, after gather().
void verify(const graph::GraphFile& graph, const Kernel& kernel, const std::string& name) {
  const std::string fault = kernel.fault(graph);
  if (fault.empty()) return;
  throw Error(fmt::format("the result{} is wrong: {}", name.empty() ? "" : " of run " + name, fault));
}

FrontierRuns run_all(frontier::FrontierJob& job, const graph::VertexNames& vertex_names, Kernel& kernel,
                     const FrontierOptions& options, perf::Profiler* profiler) {
  const Tools& tools = options.tools;
  const bool first = job.rank() == 0;
  const bool mine = tools.verify || tools.gather || (tools.parts && kernel.is_whole());
  const bool wanted = !job.bootstrap().allgather(mine ? "wanted" : "")[0].empty();
  const auto names = kernel.runs();
  FrontierRuns runs;
  const auto start = Clock::now();
  const auto at_once = run_at_once(job, kernel, profiler);
  if (!at_once.empty()) runs.seconds_kernel = seconds_since(start);
  for (std::size_t r = 0; r < std::max<std::size_t>(1, names.size()); ++r) {
    kernel.choose(r);
    if (at_once.empty())
      run_one(job, kernel, profiler, runs);
    else
      runs.add(at_once[r], std::accumulate(at_once[r].begin(), at_once[r].end(), 0.0,
                                           [](double sum, const auto& step) { return sum + step.seconds; }));
    refuse_changed_files();
    runs.checksum = runs.checksum * 31 + kernel.checksum(job);
    runs.answers.push_back(kernel.answer({job, runs.last(), runs.seconds.back(), tools.top, vertex_names}));
    if (wanted) kernel.gather(job);
    if (first && tools.bound) runs.least.push_back(count_records(kernel, job.graph(), job.ownership()));
    if (first && tools.verify) verify(job.graph(), kernel, names.empty() ? "" : names[r]);
    if (options.finished) options.finished(job, kernel, r);
  }
  return runs;
}

/// Returns what was read from disks, where rows are there. Collective.
disk::ReadFigures read_figures(frontier::FrontierJob& job, double seconds, double seconds_busy) {
  if (!job.on_disks()) return {};
  auto figures = job.measure_disks();
  figures.seconds = seconds;
  figures.seconds_busy = std::min(seconds_busy, seconds);  // the disk may have been busy before
  return figures;
}

/// Returns what the kernel needs of its job. Every superstep is told to `options` and to the profiler, if
/// there is one.
frontier::Options job_options_of(const launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                                 Kernel& kernel, const FrontierOptions& options,
                                 perf::Profiler* const& profiler) {
  auto asked = options.job;
  asked.record_bytes = kernel.record_bytes();
  asked.disks.weighted = kernel.weighted();
  asked.disks.kernel = kernel.vertex_bytes();
  asked.kernel = kernel.describe() + (options.tools.profile ? ", profiled" : "") +
                 (options.tools.parts ? ", output in parts" : "");
  asked.for_tasks =
      kernel.choose_tasks(graph, bootstrap.size(), asked.process.workers, !asked.disks.devices.empty());
  asked.progress = options.tools.progress;
  asked.listener = [&, done = std::uint64_t{0}](const frontier::Superstep& one) mutable {
    refuse_changed_files();
    ++done;
    if (profiler != nullptr) profiler->end_step(kernel.phase(one));
    const auto details = [&] {
      const std::string number =
          kernel.most_supersteps() == 0 ? fmt::format("superstep {}, ", done) : std::string();
      return fmt::format("{}{}, {} vertices, {} edges", number, kernel.phase(one), one.frontier, one.edges);
    };
    const Progress& progress = options.tools.progress;
    if (progress) progress({"running", done, kernel.most_supersteps(), "supersteps", std::cref(details)});
    if (options.job.listener) options.job.listener(one);
  };
  return asked;
}

}  // namespace

report::RunReport run_frontier(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                               const graph::VertexNames& names, Kernel& kernel,
                               const FrontierOptions& options) {
  const Progress& progress = options.tools.progress;
  perf::Profiler* told = nullptr;
  const auto job_options = job_options_of(bootstrap, graph, kernel, options, told);
  frontier::FrontierJob job(bootstrap, graph, job_options);
  std::optional<perf::Profiler> profiler;  // looks at the job, so it goes first
  kernel.prepare(job, options.tools);
  if (kernel.follows_rows(graph)) job.make_rows();
  refuse_changed_files();
  const double seconds_before = seconds_since(options.tools.start);
  if (options.tools.profile) {
    auto asked = *options.tools.profile;
    asked.words = {"superstep", "edges"};
    told = &profiler.emplace(perf::profiled(bootstrap, job.process()), asked);
  }
  if (progress) progress({"running"});  // from here on its time counts
  std::optional<perf::BalanceWatch> watch;
  if (job.on_disks()) watch.emplace(bootstrap, job.process(), job.pages()->files().paths(), 0);
  const auto runs = run_all(job, names, kernel, options, told);
  if (watch) watch->end_step("runs");
  const double busy_s = watch ? watch->disk_s() : 0;
  if (progress) progress({});
  const auto disk = read_figures(job, runs.seconds_kernel, busy_s);
  auto report = gather_report(job, kernel, runs, seconds_before + runs.seconds_kernel,
                              options.job.process.transport_reason);
  if (watch) report.disk = gather_disk(bootstrap, job.pages()->files(), disk, *watch);
  report.graph = graph.path();
  report.ownership = options.job.ownership;
  if (profiler) {
    auto profile = profiler->gather(perf::facts_of(job, runs.supersteps, disk, job_options.for_tasks));
    if (job.rank() == 0) perf::add_to(report, std::move(profile));
  }
  if (options.tools.verify) report.checks.emplace_back(kernel.rules());
  return report;
}

}  // namespace edgewire::runs
