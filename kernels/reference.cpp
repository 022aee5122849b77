#include "kernels/reference.h"

namespace edgewire::kernels {

std::vector<double> reference_pagerank(const graph::GraphFile& graph, const PageRankOptions& options) {
  const auto offsets = graph.offsets();
  const auto targets = graph.targets();
  const std::size_t vertices = graph.vertices();
  const auto n = static_cast<double>(vertices);
  const double d = options.damping;
  graph.verify_rows(0, vertices);
  const auto weight = [&](std::uint64_t e) {
    return options.weighted ? static_cast<double>(graph.weights()[e]) : 1.0;
  };
  std::vector<double> ranks(vertices, options.form_2015 ? 0 : 1 / n);
  std::vector<double> sums(vertices);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    double dangling = 0;
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t v = 0; v < vertices; ++v) {
      double degree = 0;
      for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) degree += weight(e);
      if (degree == 0) {
        dangling += ranks[v];
        continue;
      }
      for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e)
        sums[targets[e]] += ranks[v] / degree * weight(e);
    }
    for (std::size_t v = 0; v < vertices; ++v) {
      ranks[v] = options.form_2015 ? 1 - d + d * sums[v] : (1 - d) / n + d * (sums[v] + dangling / n);
    }
  }
  return ranks;
}

}  // namespace edgewire::kernels
