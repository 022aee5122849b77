#include "edgewire/kernels.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "kernels/ppr.h"
#include "library/result.h"
#include "options/kernels.h"
#include "runs/kernels.h"

namespace edgewire {

namespace {

/// Returns whether messages are doubles.
bool doubles(const JobOptions& job) { return job.wire == Wire::f64; }

}  // namespace

Result<double> pagerank(launch::Bootstrap& bootstrap, const Graph& graph, const PageRankOptions& asked,
                        const JobOptions& job) {
  return run_for_caller<double>(bootstrap, graph, runs::make_pagerank(asked, graph.vertices(), doubles(job)),
                                job);
}

Result<double> ppr(launch::Bootstrap& bootstrap, const Graph& graph, const PprSources& sources,
                   const PageRankOptions& asked, const JobOptions& job) {
  if (asked.form_2015) throw options::wrong(opt::pagerank_2015, "ppr has no such form", "leave it out");
  runs::Sources from{.vertices = sources.vertices, .shares = sources.shares};
  return run_for_caller<double>(bootstrap, graph, runs::make_ppr(asked, std::move(from), doubles(job)), job);
}

Result<double> spmv(launch::Bootstrap& bootstrap, const Graph& graph, std::vector<double> x,
                    const SpmvOptions& asked, const JobOptions& job) {
  for (std::size_t v = 0; v < x.size(); ++v)
    if (!std::isfinite(x[v])) throw UsageError(fmt::format("x: the value of vertex {} is {}", v, x[v]));
  return run_for_caller<double>(bootstrap, graph,
                                runs::make_spmv(asked, {std::move(x)}, graph.weighted(), doubles(job)), job);
}

Result<PlainId> bfs(launch::Bootstrap& bootstrap, const Graph& graph, VertexId source,
                    const BfsOptions& asked, const JobOptions& job) {
  return run_for_caller<PlainId>(bootstrap, graph, runs::make_bfs({.vertices = {source}}, asked), job);
}

Result<double> sssp(launch::Bootstrap& bootstrap, const Graph& graph, VertexId source,
                    const SsspOptions& asked, const JobOptions& job) {
  return run_for_caller<double>(bootstrap, graph, runs::make_sssp(graph, {.vertices = {source}}, {asked}),
                                job);
}

Result<PlainId> sssp_parents(launch::Bootstrap& bootstrap, const Graph& graph, VertexId source,
                             const SsspOptions& asked, const JobOptions& job) {
  return run_for_caller<PlainId>(bootstrap, graph,
                                 runs::make_sssp(graph, {.vertices = {source}}, {asked, true}), job);
}

Result<double> bc(launch::Bootstrap& bootstrap, const Graph& graph, const std::vector<VertexId>& sources,
                  const BcOptions& asked, const JobOptions& job) {
  if (!sources.empty()) kernels::check_sources(sources, graph);
  runs::Sources from{.vertices = sources};
  if (sources.empty())
    for (VertexId v{}; v < graph.vertices(); ++v) from.vertices.push_back(v);
  return run_for_caller<double>(bootstrap, graph, runs::make_bc(from, asked), job);
}

Result<PlainId> wcc(launch::Bootstrap& bootstrap, const Graph& graph, const JobOptions& job) {
  return run_for_caller<PlainId>(bootstrap, graph, runs::make_wcc(), job);
}

Result<PlainId> scc(launch::Bootstrap& bootstrap, const Graph& graph, const JobOptions& job) {
  return run_for_caller<PlainId>(bootstrap, graph, runs::make_scc(), job);
}

Result<PlainId> cdlp(launch::Bootstrap& bootstrap, const Graph& graph, const CdlpOptions& asked,
                     const JobOptions& job) {
  return run_for_caller<PlainId>(bootstrap, graph, runs::make_cdlp(asked), job);
}

Result<double> lcc(launch::Bootstrap& bootstrap, const Graph& graph, const JobOptions& job) {
  return run_for_caller<double>(bootstrap, graph, runs::make_lcc(), job);
}

Result<std::uint64_t> tc(launch::Bootstrap& bootstrap, const Graph& graph, const TcOptions& asked,
                         const JobOptions& job) {
  return run_for_caller<std::uint64_t>(bootstrap, graph, runs::make_tc(asked), job);
}

}  // namespace edgewire
