#include "runs/call.h"

#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>

#include "graph/vertex_names.h"

namespace edgewire::runs {

namespace {

template <class Number, class Value>
void copy(std::span<const Number> from, Values::Form form, std::vector<Value>& to) {
  to.reserve(from.size());
  for (const Number number : from)
    to.push_back(std::is_floating_point_v<Value> && std::is_same_v<Number, std::uint64_t> &&
                         form == Values::Form::distance && number == std::numeric_limits<Number>::max()
                     ? std::numeric_limits<Value>::infinity()
                     : static_cast<Value>(number));
}

}  // namespace

Result<double> call(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, DenseKernel& kernel,
                    DenseOptions options) {
  Result<double> result;
  options.tools.gather = true;
  options.finished = [&](DenseFinished& done) { result.values = std::move(done.all); };
  result.report = run_dense(bootstrap, graph, graph::VertexNames(graph), kernel, options);
  expect_right(result.report, kernel);
  return result;
}

template <class Value>
Result<Value> call(launch::Bootstrap& bootstrap, const graph::GraphFile& graph, Kernel& kernel,
                   FrontierOptions options) {
  Result<Value> result;
  options.tools.gather = true;
  options.finished = [&](frontier::FrontierJob&, Kernel& one, std::size_t run) {
    if (run > 0) return;
    const Values all = one.all();
    std::visit([&](const auto& numbers) { copy(numbers, all.form, result.values); }, all.numbers);
  };
  result.report = run_frontier(bootstrap, graph, graph::VertexNames(graph), kernel, options);
  return result;
}
template Result<PlainId> call(launch::Bootstrap&, const graph::GraphFile&, Kernel&, FrontierOptions);
template Result<double> call(launch::Bootstrap&, const graph::GraphFile&, Kernel&, FrontierOptions);

}  // namespace edgewire::runs
