// One call from a kernel to the values of all vertices.
#pragma once

#include <limits>
#include <span>
#include <type_traits>
#include <variant>
#include <vector>

#include "runs/kernel.h"

namespace edgewire::runs {

template <class Value>
struct Result {
  std::vector<Value> values;  ///< values by vertex at rank 0, in the order of ids; elsewhere there are none
  report::RunReport report;   ///< report, complete at rank 0
};

/// Returns the values as PlainId, std::uint64_t or double. No path, as a whole distance, is infinity.
template <class Value>
std::vector<Value> values_as(const Values& values) {
  std::vector<Value> all;
  std::visit(
      [&]<class Number>(std::span<const Number> numbers) {
        all.reserve(numbers.size());
        for (const Number number : numbers)
          all.push_back(std::is_floating_point_v<Value> && std::is_same_v<Number, std::uint64_t> &&
                                values.form == Values::Form::distance &&
                                number == std::numeric_limits<Number>::max()
                            ? std::numeric_limits<Value>::infinity()
                            : static_cast<Value>(number));
      },
      values.numbers);
  return all;
}

/// Runs a kernel, and returns the values of its first run. Throws Error, also for a wrong result. Collective.
template <class Value>
Result<Value> call(launch::Bootstrap& bootstrap, const Graph& graph, Kernel& kernel, RunOptions options) {
  Result<Value> result;
  options.tools.gather = true;
  options.finished = [&](const Finished& done) {
    if (done.run > 0) return;
    if constexpr (std::is_same_v<Value, double>)
      if (done.memory != nullptr) return result.values.swap(*done.memory);
    result.values = values_as<Value>(done.all);
  };
  result.report = kernel.run(bootstrap, graph, graph::VertexNames(graph), options);
  expect_right(result.report);
  return result;
}

}  // namespace edgewire::runs
