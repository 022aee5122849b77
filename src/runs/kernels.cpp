#include "runs/kernels.h"

#include <fmt/format.h>

#include <limits>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/error.h"

namespace edgewire::runs {

namespace {

/// Copies values. A whole distance that no path has becomes infinity.
template <class Number, class Value>
void copy(std::span<const Number> from, Values::Form form, std::vector<Value>& to) {
  for (const Number number : from)
    to.push_back(std::is_floating_point_v<Value> && std::is_same_v<Number, std::uint64_t> &&
                         form == Values::Form::distance && number == std::numeric_limits<Number>::max()
                     ? std::numeric_limits<Value>::infinity()
                     : static_cast<Value>(number));
}

/// Runs a kernel whose values have one of the types that Values holds, as `Value`.
template <class Value>
Result<Value> call(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, Kernel& kernel,
                   FrontierOptions options) {
  Result<Value> result;
  options.tools.gather = true;
  options.finished = [&, then = options.finished](frontier::FrontierJob& job, Kernel& one, std::size_t run) {
    if (run == 0) {
      const Values all = one.all();
      std::visit([&](const auto& numbers) { copy(numbers, all.form, result.values); }, all.numbers);
    }
    if (then) then(job, one, run);
  };
  result.report = run_frontier(bootstrap, graph, graph::VertexNames(graph), kernel, options);
  return result;
}

}  // namespace

void check(const Sources& sources) {
  if (sources.vertices.empty())
    throw UsageError("there is no source to start from: name one or more vertices");
  const bool is_one = sources.vertices.size() == 1 && sources.names.empty();
  if (!is_one && sources.names.size() != sources.vertices.size())
    throw UsageError(fmt::format("there are {} sources and {} names: name each of them",
                                 sources.vertices.size(), sources.names.size()));
}

Result<PlainId> bfs(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const BfsOptions& asked,
                    const FrontierOptions& options) {
  return call<PlainId>(bootstrap, graph, *make_bfs(asked), options);
}

Result<double> sssp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const SsspOptions& asked,
                    const FrontierOptions& options) {
  return call<double>(bootstrap, graph, *make_sssp(graph, asked), options);
}

Result<double> bc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const BcOptions& asked,
                  const FrontierOptions& options) {
  return call<double>(bootstrap, graph, *make_bc(asked), options);
}

Result<PlainId> wcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                    const FrontierOptions& options) {
  return call<PlainId>(bootstrap, graph, *make_wcc(), options);
}

Result<PlainId> scc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                    const FrontierOptions& options) {
  return call<PlainId>(bootstrap, graph, *make_scc(), options);
}

Result<PlainId> cdlp(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, const CdlpOptions& asked,
                     const FrontierOptions& options) {
  return call<PlainId>(bootstrap, graph, *make_cdlp(asked), options);
}

Result<double> lcc(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                   const FrontierOptions& options) {
  return call<double>(bootstrap, graph, *make_lcc(), options);
}

}  // namespace edgewire::runs
