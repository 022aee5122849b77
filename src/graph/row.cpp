#include "graph/row.h"

#include <fmt/core.h>

#include "error.h"

namespace edgewire::graph {

double Row::weight_sum(bool floats) const {
  if (!graph.weighted()) throw Error(fmt::format("{}: the graph has no weights", graph.path()));
  double sum = 0;
  for (std::size_t e = 0; e < degree(); ++e) {
    const double weight = weights()[e];
    if (weight < 0) {
      throw Error(
          fmt::format("{}: edge {} -> {} has weight {}; --weighted needs weights that are not negative",
                      graph.path(), graph.original_id(vertex), graph.original_id(targets()[e]), weight));
    }
    sum += weight;
  }
  constexpr double kMost = 1e25;
  if (floats && sum != 0 && (sum > kMost || sum < 1 / kMost)) {
    throw Error(fmt::format(
        "{}: the weights of vertex {} sum to {:g}: --precision f64 takes such sums (without --wire)",
        graph.path(), graph.original_id(vertex), sum));
  }
  return sum;
}

}  // namespace edgewire::graph
