#include "cli/frontier_report.h"

#include <algorithm>

#include "launch/packing.h"
#include "perf/job_report.h"
#include "perf/link_figures.h"

namespace edgewire::cli {

namespace {

/// At rank 0 the sums of the supersteps of each run, whose names these are.
void sum_up(report::RunReport& report, const std::vector<std::string>& names, const FrontierRuns& runs,
            const std::vector<std::vector<double>>& seconds) {
  std::size_t step = 0;
  for (std::size_t r = 0; r < names.size(); ++r) {
    auto& sum = report.runs.emplace_back();
    sum.name = names[r];
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

report::RunReport gather_report(frontier::FrontierJob& job, const FrontierKernel& kernel,
                                const FrontierRuns& runs, const FrontierSummary& mine,
                                const std::string& transport_reason) {
  const auto& supersteps = runs.supersteps;
  report::RunReport report;
  report.vertices = job.graph().vertices();
  report.edges = job.graph().edges();
  report.processes = job.bootstrap().size();
  report.workers = job.pool().workers();
  report.link = perf::gather_link(job.bootstrap(), job.link(), transport_reason);
  report.strategy = "records";
  report.layout = "given";
  report.has_supersteps = true;
  for (const auto& one : supersteps) report.supersteps.emplace_back().phase = kernel.phase(one);
  const auto steps = job.bootstrap().gather(launch::pack(supersteps));
  const auto summaries = job.bootstrap().gather(launch::pack(std::vector{mine}));
  const auto run_seconds = job.bootstrap().gather(launch::pack(runs.seconds));
  for (auto& place : job.bootstrap().gather(job.place())) report.placement.push_back(std::move(place));
  if (job.on_disks()) {
    report.disk = report::RunReport::Disk{};
    report.disk->devices = job.pages()->files().paths().size();
  }
  std::vector<std::vector<double>> seconds;  // [process][run]
  for (std::size_t p = 0; p < summaries.size(); ++p) {
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
    const auto one = launch::unpack<FrontierSummary>(summaries[p], p, 1)[0];
    report.seconds_load = std::max(report.seconds_load, one.seconds_load);
    report.seconds_kernel = std::max(report.seconds_kernel, one.seconds_kernel);
    report.seconds_total = std::max(report.seconds_total, one.seconds_total);
    report.peak_rss_bytes = std::max(report.peak_rss_bytes, one.peak_rss_bytes);
    report.checksum += one.checksum;
    if (report.disk) perf::add_disk(*report.disk, one.disk);
  }
  if (!summaries.empty()) {
    sum_up(report, kernel.runs(), runs, seconds);
    report.answer = kernel.runs().empty() ? runs.answers[0] : kernel.answer_of_all();
  }
  kernel.fill(report);
  return report;
}

}  // namespace edgewire::cli
