#include "library/result.h"

#include "library/job_options.h"
#include "runs/call.h"

namespace edgewire {

namespace {

/// Returns the report for callers, at rank 0.
Report report_of(const launch::Bootstrap& bootstrap, const report::RunReport& run) {
  Report report;
  if (bootstrap.rank() > 0) return report;
  report.seconds = run.seconds_kernel;
  report.steps = run.has_supersteps ? run.supersteps.size() : run.iterations.size();
  for (const auto& one : run.iterations) {
    report.seconds += one.seconds;
    report.payload_bytes += one.payload_bytes_sent;
    report.wire_bytes += one.wire_bytes_sent;
  }
  for (const auto& one : run.supersteps) {
    report.payload_bytes += one.payload_bytes_sent;
    report.wire_bytes += one.wire_bytes_sent;
  }
  report.required_bytes =
      run.least ? run.least->record_bytes : run.bound.payload_bytes * run.iterations.size();
  report.json = run.to_json();
  report.text = run.to_text();
  if (run.profile) report.page = run.profile->to_html(run.kernel, run.describe());
  return report;
}

/// Sets the tools that callers ask for.
runs::Tools tools_of(const JobOptions& job) {
  runs::Tools tools;
  tools.verify = job.verify;
  tools.bound = job.bound;
  if (job.profile) tools.profile.emplace();
  tools.progress = job.progress;
  return tools;
}

}  // namespace

template <class Value>
Result<Value> run_for_caller(launch::Bootstrap& bootstrap, const Graph& graph,
                             const std::unique_ptr<runs::Kernel>& kernel, const JobOptions& job) {
  using options::Part;
  expect_only(job, kernel->name(),
              {Part::graph, Part::tools, kernel->has_tiles() ? Part::tiles : Part::supersteps});
  auto found = runs::call<Value>(bootstrap, graph, *kernel,
                                 {.job = job_options(bootstrap, job), .tools = tools_of(job)});
  return {std::move(found.values), report_of(bootstrap, found.report)};
}

template Result<double> run_for_caller(launch::Bootstrap&, const Graph&, const std::unique_ptr<runs::Kernel>&,
                                       const JobOptions&);
template Result<std::uint32_t> run_for_caller(launch::Bootstrap&, const Graph&,
                                              const std::unique_ptr<runs::Kernel>&, const JobOptions&);
template Result<std::uint64_t> run_for_caller(launch::Bootstrap&, const Graph&,
                                              const std::unique_ptr<runs::Kernel>&, const JobOptions&);

}  // namespace edgewire
