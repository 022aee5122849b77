#include "edgewire/kernels.h"

#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/pagerank.h"
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
                         runs::DenseKernel& kernel, const JobOptions& job) {
  runs::DenseOptions options;
  options.job = dense_options(job);
  options.tools = tools_of(job);
  return result_of(bootstrap, runs::call(bootstrap, graph, kernel, options));
}

template <class Value>
Result<Value> run_frontier(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                           const std::unique_ptr<runs::Kernel>& kernel, const JobOptions& job) {
  runs::FrontierOptions options;
  options.job = frontier_options(job);
  options.tools = tools_of(job);
  return result_of(bootstrap, runs::call<Value>(bootstrap, graph, *kernel, options));
}

kernels::PageRankOptions ranks_asked(const PageRankOptions& asked, const JobOptions& job) {
  return {.iterations = asked.iterations,
          .damping = asked.damping,
          .tolerance = asked.tolerance,
          .weighted = job.weighted};
}

/// Says whether messages are doubles.
bool doubles(const JobOptions& job) { return job.wire == "f64"; }

}  // namespace

Result<double> pagerank(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                        const PageRankOptions& asked, const JobOptions& job) {
  if (!asked.shares.empty()) throw UsageError("PageRankOptions::shares are for ppr()");
  const auto kernel = runs::make_pagerank(ranks_asked(asked, job), graph.vertices(), doubles(job));
  return run_dense(bootstrap, graph, *kernel, job);
}

Result<double> ppr(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                   const std::vector<VertexId>& sources, const PageRankOptions& asked,
                   const JobOptions& job) {
  const auto kernel =
      runs::make_ppr(ranks_asked(asked, job), {.vertices = sources, .shares = asked.shares}, doubles(job));
  return run_dense(bootstrap, graph, *kernel, job);
}

Result<double> spmv(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, std::vector<double> x,
                    int iterations, const JobOptions& job) {
  for (std::size_t v = 0; v < x.size(); ++v)
    if (!std::isfinite(x[v])) throw UsageError(fmt::format("x: the value of vertex {} is {}", v, x[v]));
  JobOptions with_weights = job;
  with_weights.weighted = graph.weighted();
  const runs::SpmvOptions asked{
      .iterations = iterations, .x = std::move(x), .weighted = with_weights.weighted};
  return run_dense(bootstrap, graph, *runs::make_spmv(asked, doubles(job)), with_weights);
}

Result<PlainId> bfs(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, VertexId source,
                    const BfsOptions& asked, const JobOptions& job) {
  const auto kernel =
      runs::make_bfs({.sources = {{source}}, .parents = asked.parents, .deterministic = asked.deterministic});
  return run_frontier<PlainId>(bootstrap, graph, kernel, job);
}

Result<double> sssp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, VertexId source,
                    const SsspOptions& asked, const JobOptions& job) {
  const auto kernel = runs::make_sssp(graph, {.sources = {{source}},
                                              .delta = asked.delta,
                                              .unit_weights = asked.unit_weights,
                                              .parents = asked.parents});
  return run_frontier<double>(bootstrap, graph, kernel, job);
}

Result<double> bc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                  const std::vector<VertexId>& sources, const BcOptions& asked, const JobOptions& job) {
  if (!sources.empty()) kernels::check_sources(sources, graph);
  runs::BcOptions options{.sources = sources,
                          .deterministic = asked.deterministic,
                          .weighted = asked.weighted,
                          .endpoints = asked.endpoints,
                          .normalized = asked.normalized};
  if (sources.empty())
    for (VertexId v{}; v < graph.vertices(); ++v) options.sources.push_back(v);
  return run_frontier<double>(bootstrap, graph, runs::make_bc(options), job);
}

Result<PlainId> wcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job) {
  return run_frontier<PlainId>(bootstrap, graph, runs::make_wcc(), job);
}

Result<PlainId> scc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job) {
  return run_frontier<PlainId>(bootstrap, graph, runs::make_scc(), job);
}

Result<PlainId> cdlp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, std::uint32_t iterations,
                     const JobOptions& job) {
  return run_frontier<PlainId>(bootstrap, graph, runs::make_cdlp({.iterations = iterations}), job);
}

Result<double> lcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const JobOptions& job) {
  return run_frontier<double>(bootstrap, graph, runs::make_lcc(), job);
}

}  // namespace edgewire
