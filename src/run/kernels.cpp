#include "run/kernels.h"

#include <type_traits>

namespace edgewire::run {

namespace {

/// Runs a kernel whose values have one of the types that Values holds, as `Value`.
template <class Value>
Result<Value> call(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, Kernel& kernel,
                   FrontierOptions options) {
  Result<Value> result;
  options.tools.gather = true;
  options.finished = [&, then = options.finished](frontier::FrontierJob& job, Kernel& one, std::size_t run) {
    if (run == 0)
      std::visit([&](const auto& all) { result.values.assign(all.begin(), all.end()); }, one.all().numbers);
    if (then) then(job, one, run);
  };
  result.report = run_frontier(bootstrap, graph, graph::VertexNames(graph), kernel, options);
  return result;
}

}  // namespace

const char* to_name(Parallel parallel) noexcept {
  return parallel == Parallel::levels ? "levels" : parallel == Parallel::sources ? "sources" : "auto";
}

Result<std::uint32_t> bfs(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const BfsOptions& asked,
                          const FrontierOptions& options) {
  return call<std::uint32_t>(bootstrap, graph, *make_bfs(asked), options);
}

Result<double> sssp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const SsspOptions& asked,
                    const FrontierOptions& options) {
  return call<double>(bootstrap, graph, *make_sssp(graph, asked), options);
}

Result<double> bc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const BcOptions& asked,
                  const FrontierOptions& options) {
  return call<double>(bootstrap, graph, *make_bc(asked), options);
}

Result<std::uint32_t> wcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                          const FrontierOptions& options) {
  return call<std::uint32_t>(bootstrap, graph, *make_wcc(), options);
}

Result<std::uint32_t> scc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                          const FrontierOptions& options) {
  return call<std::uint32_t>(bootstrap, graph, *make_scc(), options);
}

Result<std::uint32_t> cdlp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, std::uint32_t iterations,
                           const FrontierOptions& options) {
  return call<std::uint32_t>(bootstrap, graph, *make_cdlp(iterations), options);
}

Result<double> lcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                   const FrontierOptions& options) {
  return call<double>(bootstrap, graph, *make_lcc(), options);
}

}  // namespace edgewire::run
