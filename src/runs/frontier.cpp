#include "runs/frontier_kernel.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/mapped_file.h"
#include "kernels/count/count.h"
#include "launch/packing.h"
#include "process/barrier.h"
#include "profile/balance.h"
#include "profile/job_profile.h"
#include "runs/job_report.h"

namespace edgewire::runs {

namespace {

/// The least that one run had to send.
struct LeastRecords {
  std::map<std::string, std::uint64_t> bytes;  ///< bytes of records by phase of a superstep
  kernels::Exactness exactness = kernels::Exactness::exact;
};

/// Counts the records of the last run, if a count exists, in sequence and by other code than the kernel's
/// (kernels/count/count.h): time and memory are those of `edgewire bound`.
std::optional<LeastRecords> count_records(const FrontierKernel& kernel, const frontier::Job& job) {
  const auto counts = kernel.counts(job.graph(), job.on_disks());
  if (counts.empty()) return {};
  LeastRecords least;
  least.exactness = counts.front().exactness;
  for (const auto& count : counts)
    for (const auto& step : count.count(job.ownership()))
      least.bytes[step.phase] += step.load.records() * count.record_bytes;
  return least;
}

/// The supersteps, times and checksum of all runs of one process.
struct FrontierRuns {
  std::vector<frontier::Superstep> supersteps;  ///< supersteps of all runs
  std::vector<std::size_t> ends;                ///< ends of the runs' supersteps, [run]
  std::vector<double> seconds;                  ///< seconds, [run]
  double seconds_kernel = 0;                    ///< time of all runs, which may overlap
  std::uint64_t checksum = 0;
  std::vector<report::Answer> answers;  ///< answers at rank 0, [run]
  /// The least that the runs had to send, [run], at rank 0, where that is wanted; else empty.
  std::vector<std::optional<LeastRecords>> least;

  void add(const std::vector<frontier::Superstep>& steps, double seconds_of_run) {
    supersteps.insert(supersteps.end(), steps.begin(), steps.end());
    ends.push_back(supersteps.size());
    seconds.push_back(seconds_of_run);
  }
  std::span<const frontier::Superstep> last() const {
    const std::size_t begin = ends.size() > 1 ? ends[ends.size() - 2] : 0;
    return std::span(supersteps).subspan(begin);
  }
};

void run_one(frontier::Job& job, FrontierKernel& kernel, profile::Profiler* profiler, FrontierRuns& runs) {
  process::barrier(job.bootstrap(), job.link());  // no run waits for the end of the one before
  const profile::ProfiledRun profiled(profiler);
  const auto start = Clock::now();
  const auto supersteps = kernel.supersteps(job);
  runs.add(supersteps, seconds_since(start));
  runs.seconds_kernel += runs.seconds.back();
}

/// Runs all searches at once, if the kernel can; they are one superstep for a profile.
std::vector<std::vector<frontier::Superstep>> run_at_once(frontier::Job& job, FrontierKernel& kernel,
                                                          profile::Profiler* profiler) {
  const profile::ProfiledRun profiled(profiler);
  auto steps = kernel.run_at_once(job);
  if (profiler != nullptr && !steps.empty()) profiler->end_step("search from all sources");
  return steps;
}

/// Verifies the result at rank 0, after gather(), and the answer of the run.
void verify(const FrontierKernel& kernel, const Asked& asked, const report::Answer& answer,
            const std::string& name) {
  const std::string of_run = name.empty() ? "" : " of run " + name;
  if (const auto fault = kernel.fault(asked.graph); !fault.empty())
    throw Error(fmt::format("the result{} is wrong: {}", of_run, fault));
  if (const auto fault = answer_fault(answer, kernel.expected_answer(asked)); !fault.empty())
    throw Error(fmt::format("the answer{} is wrong: {}", of_run, fault));
}

/// The state that a job's listener uses.
struct Told {
  profile::Profiler* profiler = nullptr;
  std::uint64_t run = 0, runs = 0;  ///< number of the run under way, and of all runs
};

/// Returns the results of a run that is over.
Finished finished(frontier::Job& job, const FrontierKernel& kernel, std::size_t run) {
  return {run, kernel.all(), [&](TextForm form) {
            return kernel.is_whole()
                       ? text_of_owned(job.bootstrap(), job.graph(), job.ownership(), kernel.all(), form)
                       : text_of(job.graph(), owned_vertices(job.ownership(), job.rank()), kernel.own(),
                                 form);
          }};
}

FrontierRuns run_all(frontier::Job& job, const graph::VertexNames& vertex_names, FrontierKernel& kernel,
                     const RunOptions& options, Told& told) {
  const Tools& tools = options.tools;
  const bool first = job.rank() == 0;
  const bool mine = tools.verify || tools.gather || (tools.parts && kernel.is_whole());
  const bool wanted = !job.bootstrap().allgather(mine ? "wanted" : "")[0].empty();
  const auto names = kernel.runs();
  told.runs = names.size();
  FrontierRuns runs;
  const auto start = Clock::now();
  const auto at_once = run_at_once(job, kernel, told.profiler);
  if (!at_once.empty()) runs.seconds_kernel = seconds_since(start);
  for (std::size_t r = 0; r < std::max<std::size_t>(1, names.size()); ++r) {
    kernel.choose(told.run = r);
    if (at_once.empty())
      run_one(job, kernel, told.profiler, runs);
    else
      runs.add(at_once[r], std::accumulate(at_once[r].begin(), at_once[r].end(), 0.0,
                                           [](double sum, const auto& step) { return sum + step.seconds; }));
    refuse_changed_files();
    runs.checksum = runs.checksum * 31 + kernel.checksum(job);
    runs.answers.push_back(kernel.answer({job, runs.last(), runs.seconds.back(), tools.top, vertex_names}));
    if (wanted) kernel.gather(job);
    if (first && tools.bound) runs.least.push_back(count_records(kernel, job));
    if (first && tools.verify)
      verify(kernel, {job.graph(), vertex_names, tools.top}, runs.answers.back(),
             names.empty() ? "" : names[r]);
    if (options.finished) options.finished(finished(job, kernel, r));
  }
  return runs;
}

/// Returns the figures of reads from disks, where rows are there. Collective.
disk::ReadFigures read_figures(frontier::Job& job, double seconds, double seconds_busy) {
  if (!job.on_disks()) return {};
  auto figures = job.measure_disks();
  figures.seconds = seconds;
  figures.seconds_busy = std::min(seconds_busy, seconds);  // the disk may have been busy before
  return figures;
}

/// Returns the options of the kernel's job. Tools and profiler hear of each superstep. `told` outlives it.
frontier::Options options_of(const launch::Bootstrap& bootstrap, const Graph& graph, FrontierKernel& kernel,
                             const job::DenseOptions& job, const Tools& tools, const Told& told) {
  auto asked = frontier_options(job);
  asked.disks.kernel = kernel.vertex_bytes();
  asked.record_bytes = kernel.record_bytes();
  asked.for_tasks =
      kernel.choose_tasks(graph, bootstrap.size(), asked.process.workers, !asked.disks.devices.empty());
  asked.listener = [&, done = std::uint64_t{0}](const frontier::Superstep& one) mutable {
    refuse_changed_files();
    ++done;
    if (told.profiler != nullptr) told.profiler->end_step(kernel.phase(one));
    const auto details = [&] {
      const std::string number =
          kernel.most_supersteps() == 0 ? fmt::format("superstep {}, ", done) : std::string();
      return fmt::format("{}{}, {} vertices, {} edges", number, kernel.phase(one), one.frontier, one.edges);
    };
    if (const Progress& progress = tools.progress) {
      const auto [searched, sources] = told.runs > 1 ? std::pair(told.run, told.runs) : kernel.searched();
      if (sources > 0)
        progress({"searching", searched, sources, "sources", std::cref(details)});
      else
        progress({"running", done, kernel.most_supersteps(), "supersteps", std::cref(details)});
    }
  };
  return asked;
}

using Supersteps = std::span<report::RunReport::Superstep>;

/// Adds the counts to supersteps, where the count has the same ones, and returns the sum.
std::uint64_t add_to(Supersteps supersteps, const LeastRecords& least) {
  std::set<std::string> phases;
  for (const auto& one : supersteps) phases.insert(one.phase);
  if (phases.size() == supersteps.size() &&
      std::ranges::equal(phases, least.bytes, {}, {}, [](const auto& one) { return one.first; }))
    for (auto& one : supersteps) one.least_record_bytes = least.bytes.at(one.phase);
  std::uint64_t sum = 0;
  for (const auto& [phase, bytes] : least.bytes) sum += bytes;
  return sum;
}

/// Adds the counts of each run to a report. `ends`: the ends of the runs' supersteps, [run].
void add_least(report::RunReport& report, const std::vector<std::size_t>& ends,
               const std::vector<std::optional<LeastRecords>>& runs) {
  const bool all = std::ranges::all_of(runs, [](const auto& least) { return least.has_value(); });
  report.least = report::RunReport::Least{};
  if (runs.empty() || !all) return;
  report.least->count = kernels::to_name(runs.front()->exactness);
  std::size_t begin = 0;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const auto bytes = add_to(Supersteps(report.supersteps).subspan(begin, ends[r] - begin), *runs[r]);
    if (!report.runs.empty()) report.runs[r].least_record_bytes = bytes;
    report.least->record_bytes += bytes;
    begin = ends[r];
  }
}

/// Sets the sums of the supersteps of each run, at rank 0. `names` are those of the runs.
void sum_up(report::RunReport& report, const std::vector<std::string>& names, const FrontierRuns& runs,
            const std::vector<std::vector<double>>& seconds) {
  std::size_t step = 0;
  for (std::size_t r = 0; r < names.size(); ++r) {
    auto& sum = report.runs.emplace_back();
    sum.source = names[r];
    sum.answer = runs.answers[r];
    sum.supersteps = runs.ends[r] - step;
    for (; step < runs.ends[r]; ++step) sum.add(report.supersteps[step]);
    for (const auto& process : seconds) sum.seconds = std::max(sum.seconds, process[r]);
  }
}

/// Returns the report of all processes at rank 0. Collective.
report::RunReport gather_report(frontier::Job& job, const FrontierKernel& kernel, const FrontierRuns& runs,
                                double seconds_total, const std::string& transport_reason) {
  const auto& supersteps = runs.supersteps;
  auto& bootstrap = job.bootstrap();
  report::RunReport report;
  static_cast<report::JobReport&>(report) = gather_job(bootstrap, job.process(), transport_reason,
                                                       {job.seconds_load(), 0, seconds_total, runs.checksum});
  report.vertices = job.graph().vertices();
  report.edges = job.graph().edges();
  report.strategy = "records";
  report.layout = "given";
  report.has_supersteps = true;
  for (const auto& one : supersteps) report.supersteps.emplace_back().phase = kernel.phase(one);
  const auto steps = bootstrap.gather(launch::pack(supersteps));
  const auto run_seconds = bootstrap.gather(launch::pack(runs.seconds));
  const auto kernel_seconds = bootstrap.gather(launch::pack(std::vector{runs.seconds_kernel}));
  std::vector<std::vector<double>> seconds;  // seconds, [process][run]
  for (std::size_t p = 0; p < steps.size(); ++p) {
    seconds.push_back(launch::unpack<double>(run_seconds[p], p, runs.seconds.size()));
    const auto theirs = launch::unpack<frontier::Superstep>(steps[p], p, supersteps.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      const auto& sent = theirs[i].sent;
      report.supersteps[i].add({theirs[i].frontier, theirs[i].edges, sent.record_bytes, sent.payload_bytes});
      report.supersteps[i].wire_bytes_sent += sent.wire_bytes;
      report.supersteps[i].seconds = std::max(report.supersteps[i].seconds, theirs[i].seconds);
    }
    report.seconds_kernel =
        std::max(report.seconds_kernel, launch::unpack<double>(kernel_seconds[p], p, 1)[0]);
  }
  if (!steps.empty()) {
    sum_up(report, kernel.runs(), runs, seconds);
    if (!runs.least.empty()) add_least(report, runs.ends, runs.least);
    report.answer = kernel.runs().empty() ? runs.answers[0] : kernel.answer_of_all();
  }
  kernel.fill(report);
  return report;
}

}  // namespace

frontier::Options frontier_options(const job::DenseOptions& job) {
  frontier::Options asked;
  asked.process = job.process;
  asked.ownership = job.ownership;
  asked.rows = job.rows;
  asked.disks = {job.devices, job.memory_bytes, job.weighted, {}};
  asked.kernel = job.kernel;
  asked.progress = job.progress;
  return asked;
}

report::RunReport FrontierKernel::run(launch::Bootstrap& bootstrap, const Graph& graph,
                                      const graph::VertexNames& names, const RunOptions& options) {
  const Progress& progress = options.tools.progress;
  checkpoints_ = options.checkpoints;
  Told told;
  const auto asked = options_of(bootstrap, graph, *this, job_options(options), options.tools, told);
  frontier::Job job(bootstrap, graph, asked);
  std::optional<profile::Profiler> profiler;  // it refers to the job, so it ends first
  prepare(job, options);
  if (follows_rows(graph)) job.make_rows();
  refuse_changed_files();
  const double seconds_before = seconds_since(options.tools.start);
  if (options.tools.profile) {
    auto profile = *options.tools.profile;
    profile.words = {"superstep", "edges"};
    told.profiler = &profiler.emplace(bootstrap, job.process(), profile);
  }
  if (progress) progress({"running"});  // its time counts from here on
  std::optional<profile::BalanceWatch> watch;
  if (job.on_disks()) watch.emplace(bootstrap, job.process(), job.pages()->files().paths(), 0);
  const auto runs = run_all(job, names, *this, options, told);
  if (watch) watch->end_step("runs");
  const double busy_s = watch ? watch->disk_s() : 0;
  if (progress) progress({});
  const auto disk = read_figures(job, runs.seconds_kernel, busy_s);
  auto report = gather_report(job, *this, runs, seconds_before + runs.seconds_kernel,
                              options.job.process.transport_reason);
  if (watch) report.disk = gather_disk(bootstrap, job.pages()->files(), disk, *watch);
  report.graph = graph.path();
  report.ownership = options.job.ownership;
  if (profiler) {
    auto profile = profiler->gather(profile::facts_of(job, runs.supersteps, disk, asked.for_tasks));
    if (job.rank() == 0) profile::add_to(report, std::move(profile));
  }
  if (options.tools.verify) report.checks = {rules(), "the answer agrees with the values"};
  return report;
}

}  // namespace edgewire::runs
