#include "edgewire/kernels.h"

#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/ppr.h"
#include "library/job_options.h"
#include "runs/call.h"
#include "runs/dense.h"
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

template <class Value>
Result<Value> result_of(const launch::Bootstrap& bootstrap, runs::Result<Value> run) {
  return {std::move(run.values), report_of(bootstrap, run.report)};
}

Result<double> run_dense(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                         runs::DenseKernel& kernel, const JobOptions& job, bool weighted) {
  runs::DenseOptions options;
  options.job = dense_options(bootstrap, job);
  options.job.weighted = weighted;
  options.tools = tools_of(job);
  return result_of(bootstrap, runs::call(bootstrap, graph, kernel, options));
}

template <class Value>
Result<Value> run_frontier(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                           const std::unique_ptr<runs::Kernel>& kernel, const JobOptions& job) {
  expect_only(job, kernel->name(), {.graph = true, .tools = true, .count = true});
  runs::FrontierOptions options;
  options.job = frontier_options(bootstrap, job);
  options.tools = tools_of(job);
  return result_of(bootstrap, runs::call<Value>(bootstrap, graph, *kernel, options));
}

/// Says whether messages are doubles.
bool doubles(const JobOptions& job) { return job.wire == "f64"; }

/// Looks whether the options of a job are those of a kernel with tiles.
void expect_tiles(const JobOptions& job, std::string_view kernel) {
  expect_only(job, kernel, {.graph = true, .tiles = true, .tools = true});
}

}  // namespace

Result<double> pagerank(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                        const PageRankOptions& asked, const JobOptions& job) {
  expect_tiles(job, "pagerank");
  const auto kernel = runs::make_pagerank(asked, graph.vertices(), doubles(job));
  return run_dense(bootstrap, graph, *kernel, job, asked.weighted);
}

Result<double> ppr(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const PprSources& sources,
                   const PageRankOptions& asked, const JobOptions& job) {
  expect_tiles(job, "ppr");
  if (asked.form_2015) throw UsageError("PageRankOptions::form_2015: ppr has no such form; leave it out");
  const auto kernel =
      runs::make_ppr(asked, {.vertices = sources.vertices, .shares = sources.shares}, doubles(job));
  return run_dense(bootstrap, graph, *kernel, job, asked.weighted);
}

Result<double> spmv(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, std::vector<double> x,
                    const SpmvOptions& asked, const JobOptions& job) {
  expect_tiles(job, "spmv");
  for (std::size_t v = 0; v < x.size(); ++v)
    if (!std::isfinite(x[v])) throw UsageError(fmt::format("x: the value of vertex {} is {}", v, x[v]));
  const auto kernel = runs::make_spmv(asked, {std::move(x)}, graph.weighted(), doubles(job));
  return run_dense(bootstrap, graph, *kernel, job, graph.weighted());
}

Result<PlainId> bfs(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, VertexId source,
                    const BfsOptions& asked, const JobOptions& job) {
  return run_frontier<PlainId>(bootstrap, graph, runs::make_bfs({.vertices = {source}}, asked), job);
}

Result<double> sssp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, VertexId source,
                    const SsspOptions& asked, const JobOptions& job) {
  return run_frontier<double>(bootstrap, graph, runs::make_sssp(graph, {.vertices = {source}}, asked), job);
}

Result<double> bc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                  const std::vector<VertexId>& sources, const BcOptions& asked, const JobOptions& job) {
  if (!sources.empty()) kernels::check_sources(sources, graph);
  runs::Sources from{.vertices = sources};
  if (sources.empty())
    for (VertexId v{}; v < graph.vertices(); ++v) from.vertices.push_back(v);
  return run_frontier<double>(bootstrap, graph, runs::make_bc(from, asked), job);
}

Result<PlainId> wcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job) {
  return run_frontier<PlainId>(bootstrap, graph, runs::make_wcc(), job);
}

Result<PlainId> scc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job) {
  return run_frontier<PlainId>(bootstrap, graph, runs::make_scc(), job);
}

Result<PlainId> cdlp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const CdlpOptions& asked,
                     const JobOptions& job) {
  return run_frontier<PlainId>(bootstrap, graph, runs::make_cdlp(asked), job);
}

Result<double> lcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job) {
  return run_frontier<double>(bootstrap, graph, runs::make_lcc(), job);
}

}  // namespace edgewire
