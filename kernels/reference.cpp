#include "kernels/reference.h"

namespace edgewire::kernels {

std::vector<double> reference_pagerank(const graph::GraphFile& graph, const PageRankOptions& options) {
  const auto offsets = graph.offsets();
  const auto targets = graph.targets();
  const std::size_t vertices = graph.vertices();
  const auto n = static_cast<double>(vertices);
  const double d = options.damping;
  graph.verify_rows(0, vertices);
  std::vector<double> ranks(vertices, options.form_2015 ? 0 : 1 / n);
  std::vector<double> sums(vertices);
  for (int iteration = 0; iteration < options.iterations; ++iteration) {
    double dangling = 0;
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::size_t v = 0; v < vertices; ++v) {
      const std::uint64_t degree = offsets[v + 1] - offsets[v];
      if (degree == 0) dangling += ranks[v];
      for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
        sums[targets[e]] += ranks[v] / static_cast<double>(degree);
      }
    }
    for (std::size_t v = 0; v < vertices; ++v) {
      ranks[v] = options.form_2015 ? 1 - d + d * sums[v] : (1 - d) / n + d * (sums[v] + dangling / n);
    }
  }
  return ranks;
}

}  // namespace edgewire::kernels
