#include "kernels/pagerank.h"

#include <fmt/core.h>

#include <algorithm>

#include "error.h"
#include "exchange/codec.h"

namespace edgewire::kernels {

template <class Offered>
Offered PageRank<Offered>::constant(const graph::Row& row) const {
  double degree = options.weighted ? 0 : static_cast<double>(row.degree());
  if (options.weighted) {
    for (std::size_t e = 0; e < row.degree(); ++e) {
      const float weight = row.weights()[e];
      if (weight < 0) {
        throw Error(
            fmt::format("{}: edge {} -> {} has weight {}; --weighted needs weights that are not negative",
                        row.graph.path(), row.graph.original_id(row.vertex),
                        row.graph.original_id(row.targets()[e]), weight));
      }
      degree += static_cast<double>(weight);
    }
    // Beyond, a float might not hold rank / sum.
    constexpr double kMost = 1e25;
    if (sizeof(Message) == sizeof(float) && degree != 0 && (degree > kMost || degree < 1 / kMost)) {
      throw Error(fmt::format("{}: the weights of vertex {} sum to {:g}: --precision f64 takes such sums",
                              row.graph.path(), row.graph.original_id(row.vertex), degree));
    }
  }
  return degree == 0 ? 0 : static_cast<Constant>(1.0 / degree);
}

template <class Offered>
auto PageRank<Offered>::first_totals(std::span<const double> ranks,
                                     std::span<const Constant> inverse_degrees) const -> Totals {
  // Ranks that are still the same are multiplied, not added: that rounds once, and counting is quick.
  std::uint64_t dangling = 0, same = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const auto is_dangling = static_cast<unsigned>(inverse_degrees[i] == 0);
    dangling += is_dangling;
    same += is_dangling & static_cast<unsigned>(ranks[i] == start_rank());
  }
  double others = 0;
  for (std::size_t i = 0; dangling != same && i < ranks.size(); ++i)
    if (inverse_degrees[i] == 0 && ranks[i] != start_rank()) others += ranks[i];
  return {static_cast<double>(same) * start_rank() + others, 0};
}

template <class Offered>
bool PageRank<Offered>::done(const Totals& totals) {
  constexpr int kPatience = 10;
  without_progress_ = totals.change < least_change_ ? 0 : without_progress_ + 1;
  least_change_ = std::min(least_change_, totals.change);
  if (totals.change < options.tolerance)
    ending = Ending::tolerance;
  else if (without_progress_ >= kPatience)
    ending = Ending::stalled;
  return ending != Ending::iterations;
}

ErrorBound error_bound(const PageRankOptions& options, int iterations, plan::Encoding encoding,
                       int processes) {
  constexpr double kSumming = 1e-13;  // doubles added in another order
  const double unit = encoding == plan::Encoding::f64 ? 0x1p-53 : 0x1p-24;
  const bool travels = processes > 1;
  const bool rounded = travels && plan::is_rounded(encoding);
  const double more =
      kSumming + (travels ? 4 : 2) * unit + (rounded ? 2 * exchange::Codec::rounding(encoding) : 0);
  ErrorBound bound;
  for (int t = 0; t < iterations; ++t) {
    const double next = options.damping * (bound.in_sum + more);
    if (next == bound.in_sum) break;
    bound.in_sum = next;
  }
  bound.vertex = rounded ? std::numeric_limits<double>::infinity() : iterations * more;
  return bound;
}

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

template struct PageRank<float>;
template struct PageRank<double>;

}  // namespace edgewire::kernels
