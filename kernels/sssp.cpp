#include "kernels/sssp.h"

#include <fmt/core.h>

#include <vector>

#include "graph/row.h"
#include "graph/vertex_names.h"
#include "options.h"

// Compiled once, and for speed.
template class edgewire::frontier::Settling<edgewire::kernels::Sssp>;

namespace edgewire::kernels {

namespace {

/// Sum of the weights of this process's edges. Throws Error when one is negative.
double weight_sum(frontier::FrontierJob& job) {
  std::vector<double> sums(static_cast<std::size_t>((job.owned() >> 14) + 1));  // a range each, so that the
  job.for_each_range([&](int, std::uint32_t first, std::uint32_t last) {        // order of adding is given
    double sum = 0;
    for (std::uint32_t local = first; local < last; ++local) {
      const graph::Row row{job.graph(), job.ownership().vertex(job.rank(), local)};
      const auto weights = row.weights();
      for (std::size_t e = 0; e < weights.size(); ++e) {
        sum += weights[e];
        if (weights[e] >= 0) continue;
        const graph::VertexNames names(job.graph());
        throw Error(fmt::format("{}: edge {} -> {} has weight {:g}; sssp needs weights that are not negative",
                                job.graph().path(), names(row.vertex), names(row.targets()[e]), weights[e]));
      }
    }
    sums[first >> 14] = sum;
  });
  double sum = 0;
  for (const double one : sums) sum += one;
  return sum;
}

/// The same of weights that were looked at when they were written to disks.
double weight_sum(const graph::GraphFile& graph, const frontier::WeightFigures& weights) {
  if (weights.least < 0)
    throw Error(fmt::format("{}: an edge has weight {:g}; sssp needs weights that are not negative",
                            graph.path(), weights.least));
  return weights.sum;
}

double sum_of_all(frontier::FrontierJob& job) {
  const double mine = job.on_disks() ? weight_sum(job.graph(), job.pages()->weights()) : weight_sum(job);
  double sum = 0;
  for (const auto& one : launch::allgather(job.bootstrap(), std::vector{mine})) sum += one[0];
  return sum;
}

}  // namespace

Sssp::Sssp(frontier::FrontierJob& job, double asked, bool unit) : delta(asked), unit_weights(unit) {
  job.expect_weights(weighted());
  if (asked != 0) check_range("delta", asked, 1e-300, 1e300);
  const double sum = unit ? static_cast<double>(job.graph().edges()) : sum_of_all(job);
  if (asked == 0) delta = usual_delta(sum, job.graph().edges(), job.graph().vertices());
}

}  // namespace edgewire::kernels
