#include "graph/row.h"

#include <fmt/core.h>

#include "base/error.h"

namespace edgewire::graph {

double Row::weight_sum(bool floats) const {
  if (!graph.weighted()) throw Error(fmt::format("{}: the graph has no weights", graph.path()));
  double sum = 0;
  weights().visit([&](const auto all) {
    for (std::size_t e = 0; e < all.size(); ++e) {
      const auto weight = static_cast<double>(all[e]);
      if (weight < 0) {
        throw Error(
            fmt::format("{}: edge {} -> {} has weight {}; --weighted needs weights that are not negative",
                        graph.path(), graph.original_id(vertex), graph.original_id(targets()[e]), weight));
      }
      sum += weight;
    }
  });
  // Neither 1 / sum nor a share is below the normal numbers then, or infinite.
  constexpr double kMostOfFloats = 1e25, kMostOfDoubles = 1e290;
  const auto fits = [sum](double most) { return sum <= most && sum >= 1 / most; };
  if (sum == 0 || fits(floats ? kMostOfFloats : kMostOfDoubles)) return sum;
  throw Error(fmt::format(
      "{}: the weights of vertex {} sum to {:g}: {}", graph.path(), graph.original_id(vertex), sum,
      fits(kMostOfDoubles) ? "--precision f64 takes such sums (without --wire)"
                           : "--weighted takes sums from 1e-290 to 1e290, so scale the weights"));
}

}  // namespace edgewire::graph
