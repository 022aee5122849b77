// This file checks the options of the dense kernels.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "kernels/pagerank.h"
#include "kernels/ppr.h"
#include "kernels/spmv.h"
#include "options/kernels.h"

namespace edgewire::kernels {

void check(const PageRankOptions& options, bool weighted) {
  check_range(opt::rank_iterations, options.most_iterations());
  check_range(opt::damping, options.damping);
  check_range(opt::tolerance, options.tolerance);
  if (options.weighted == weighted) return;
  throw UsageError(weighted
                       ? "PageRankOptions::weighted is false, but the job's edges have their weights: set "
                         "both this and JobOptions::weighted, or neither"
                       : "PageRankOptions::weighted is true, but the job's edges have no weights: set "
                         "JobOptions::weighted, too");
}

void check_sources(std::span<const VertexId> sources, const Graph& graph) {
  if (sources.empty()) throw UsageError("sources: name at least one vertex");
  if (std::ranges::adjacent_find(sources, std::greater_equal<>()) != sources.end())
    throw UsageError("sources: they must be in ascending order, each once");
  if (sources.back() >= graph.vertices())
    throw UsageError(fmt::format("sources: {} is no vertex of {}, which has {}", PlainId{sources.back()},
                                 graph.path(), graph.vertices()));
}

void Restarts::check(const Graph& graph) const {
  check_sources(vertices, graph);
  if (!shares.empty() && shares.size() != vertices.size())
    throw UsageError(fmt::format("shares: there are {} for {} sources", shares.size(), vertices.size()));
}

std::vector<double> relative_shares(std::vector<double> shares) {
  const double largest = shares.empty() ? 1 : std::ranges::max(shares);
  for (double& share : shares) {
    if (!std::isfinite(share) || share <= 0 || share / largest < std::numeric_limits<float>::min())
      throw UsageError(fmt::format("shares: {} is not a finite number above 0, or too small a part of {}",
                                   share, largest));
    share /= largest;
  }
  return shares;
}

void check_vector(std::span<const double> x, const Graph& graph) {
  if (!x.empty() && x.size() != graph.vertices())
    throw UsageError(
        fmt::format("x has {} values, and {} has {} vertices", x.size(), graph.path(), graph.vertices()));
}

}  // namespace edgewire::kernels
