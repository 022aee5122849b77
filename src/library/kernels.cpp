#include "edgewire/kernels.h"

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/ppr.h"
#include "library/job_options.h"
#include "options/kernels.h"
#include "runs/call.h"
#include "runs/kernels.h"

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

/// Runs the kernel. Throws UsageError where the job has options that the kernel has not.
template <class Value>
Result<Value> run(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                  const std::unique_ptr<runs::Kernel>& kernel, const JobOptions& job) {
  const bool tiles = kernel->has_tiles();
  expect_only(job, kernel->name(), {.graph = true, .tiles = tiles, .tools = true, .count = !tiles});
  auto found = runs::call<Value>(bootstrap, graph, *kernel,
                                 {.job = job_options(bootstrap, job), .tools = tools_of(job)});
  return {std::move(found.values), report_of(bootstrap, found.report)};
}

/// Returns whether messages are doubles.
bool doubles(const JobOptions& job) { return job.wire == "f64"; }

}  // namespace

Result<double> pagerank(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                        const PageRankOptions& asked, const JobOptions& job) {
  return run<double>(bootstrap, graph, runs::make_pagerank(asked, graph.vertices(), doubles(job)), job);
}

Result<double> ppr(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const PprSources& sources,
                   const PageRankOptions& asked, const JobOptions& job) {
  if (asked.form_2015) throw options::wrong(opt::pagerank_2015, "ppr has no such form", "leave it out");
  runs::Sources from{.vertices = sources.vertices, .shares = sources.shares};
  return run<double>(bootstrap, graph, runs::make_ppr(asked, std::move(from), doubles(job)), job);
}

Result<double> spmv(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, std::vector<double> x,
                    const SpmvOptions& asked, const JobOptions& job) {
  for (std::size_t v = 0; v < x.size(); ++v)
    if (!std::isfinite(x[v])) throw UsageError(fmt::format("x: the value of vertex {} is {}", v, x[v]));
  return run<double>(bootstrap, graph, runs::make_spmv(asked, {std::move(x)}, graph.weighted(), doubles(job)),
                     job);
}

Result<PlainId> bfs(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, VertexId source,
                    const BfsOptions& asked, const JobOptions& job) {
  return run<PlainId>(bootstrap, graph, runs::make_bfs({.vertices = {source}}, asked), job);
}

Result<double> sssp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, VertexId source,
                    const SsspOptions& asked, const JobOptions& job) {
  return run<double>(bootstrap, graph, runs::make_sssp(graph, {.vertices = {source}}, asked), job);
}

Result<double> bc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                  const std::vector<VertexId>& sources, const BcOptions& asked, const JobOptions& job) {
  if (!sources.empty()) kernels::check_sources(sources, graph);
  runs::Sources from{.vertices = sources};
  if (sources.empty())
    for (VertexId v{}; v < graph.vertices(); ++v) from.vertices.push_back(v);
  return run<double>(bootstrap, graph, runs::make_bc(from, asked), job);
}

Result<PlainId> wcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job) {
  return run<PlainId>(bootstrap, graph, runs::make_wcc(), job);
}

Result<PlainId> scc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job) {
  return run<PlainId>(bootstrap, graph, runs::make_scc(), job);
}

Result<PlainId> cdlp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const CdlpOptions& asked,
                     const JobOptions& job) {
  return run<PlainId>(bootstrap, graph, runs::make_cdlp(asked), job);
}

Result<double> lcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job) {
  return run<double>(bootstrap, graph, runs::make_lcc(), job);
}

Result<std::uint64_t> tc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const TcOptions& asked,
                         const JobOptions& job) {
  return run<std::uint64_t>(bootstrap, graph, runs::make_tc(asked), job);
}

}  // namespace edgewire
