#include "runs/frontier_report.h"

#include <algorithm>

#include "launch/packing.h"
#include "runs/job_report.h"

namespace edgewire::runs {

namespace {

/// Sets the sums of the supersteps of each run, at rank 0. `names` are those of the runs.
void sum_up(report::RunReport& report, const std::vector<std::string>& names, const FrontierRuns& runs,
            const std::vector<std::vector<double>>& seconds) {
  std::size_t step = 0;
  for (std::size_t r = 0; r < names.size(); ++r) {
    auto& sum = report.runs.emplace_back();
    sum.source = names[r];
    sum.answer = runs.answers[r];
    sum.supersteps = runs.ends[r] - step;
    for (; step < runs.ends[r]; ++step) {
      sum.frontier += report.supersteps[step].frontier;
      sum.edges += report.supersteps[step].edges;
      sum.record_bytes += report.supersteps[step].record_bytes;
      sum.payload_bytes_sent += report.supersteps[step].payload_bytes_sent;
    }
    for (const auto& process : seconds) sum.seconds = std::max(sum.seconds, process[r]);
  }
}

}  // namespace

report::RunReport gather_report(frontier::FrontierJob& job, const Kernel& kernel, const FrontierRuns& runs,
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
  std::vector<std::vector<double>> seconds;  // [process][run]
  for (std::size_t p = 0; p < steps.size(); ++p) {
    seconds.push_back(launch::unpack<double>(run_seconds[p], p, runs.seconds.size()));
    const auto theirs = launch::unpack<frontier::Superstep>(steps[p], p, supersteps.size());
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      report.supersteps[i].frontier += theirs[i].frontier;
      report.supersteps[i].edges += theirs[i].edges;
      report.supersteps[i].record_bytes += theirs[i].sent.record_bytes;
      report.supersteps[i].payload_bytes_sent += theirs[i].sent.payload_bytes;
      report.supersteps[i].wire_bytes_sent += theirs[i].sent.wire_bytes;
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

}  // namespace edgewire::runs
