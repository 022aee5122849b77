// y = A x for the sparse matrix A whose entry in row v and column u is the sum of the weights of the edges
// (u, v), or their number without weights: y[v] is the sum of w(u, v) x[u] over the edges into v. Rows of a
// graph file are the columns of A. Repeated: x <- y (Saad: "Iterative Methods for Sparse Linear Systems",
// 2003, chapter 3).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "graph/row.h"
#include "kernels/reference.h"
#include "kernels/weighted_sum.h"

namespace edgewire::kernels {

/// Throws UsageError unless x is empty or has a value for each vertex.
void check_vector(std::span<const double> x, const graph::GraphFile& graph);

/// The program: values and sums are doubles, a message is the value as float or double.
template <class Offered>
struct SpMV : WeightedSum<Offered> {
  using Value = double;
  struct Constant {};
  using Message = Offered;
  struct Totals {
    double too_large = 0;  ///< vertices whose value is no finite number of type Offered
  };

  /// `vector`: x by vertex, which outlives it; empty: all are 1.
  explicit SpMV(std::span<const double> vector) : x(vector) {}

  /// Throws UsageError, see DenseRun.
  void check(const graph::GraphFile& graph, bool) const { check_vector(x, graph); }
  double start(const graph::Row& row) const { return x.empty() ? 1 : x[row.vertex]; }
  static Constant constant(const graph::Row&) { return {}; }
  static Message message(double value, Constant) { return static_cast<Message>(value); }
  static int prepare(const Totals&) { return 0; }
  static double apply(double, double sum, Constant, int, Totals& own) {
    constexpr auto kMost = static_cast<double>(std::numeric_limits<Offered>::max());
    own.too_large = std::fabs(sum) <= kMost ? 0.0 : 1.0;
    return sum;
  }
  static Totals first_totals(std::span<const double>, std::span<const Constant>) { return {}; }
  static bool done(const Totals&) { return false; }

  std::span<const double> x;
};

/// Most that rounding can change y, relative to |A|^k |x|. In each multiplication a message is rounded once,
/// and up to twice more on its way to another process; a sum of m terms by m / 2^53 here and there.
inline ErrorBound spmv_error_bound(bool doubles, std::uint64_t edges, int iterations, int processes) {
  const double unit = doubles ? 0x1p-53 : 0x1p-24;
  const double once = (processes > 1 ? 3 : 1) * unit + 2 * static_cast<double>(edges) * 0x1p-53;
  const double all = std::expm1(iterations * once);
  return {all, all};
}

/// The same by plain sequential code in double. The scales are |A|^k |x|, where what is smaller than any
/// normal number of the precision counts as the least of them: that is how far it may be off.
inline Reference reference_spmv(const graph::GraphFile& graph, std::span<const double> x, int iterations,
                                bool doubles) {
  check_vector(x, graph);
  const std::size_t n = graph.vertices();
  graph.verify_rows(0, n);
  const double least =
      doubles ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
  Reference result;
  result.values.assign(n, 1);
  if (!x.empty()) result.values.assign(x.begin(), x.end());
  for (const double value : result.values) result.scales.push_back(std::max(std::fabs(value), least));
  for (int k = 0; k < iterations; ++k) {
    Reference next{std::vector<double>(n, 0), std::vector<double>(n, 0)};
    for (std::size_t u = 0; u < n; ++u) {
      for (std::uint64_t e = graph.offsets()[u]; e < graph.offsets()[u + 1]; ++e) {
        const double weight = graph.weighted() ? graph.weights()[e] : 1;
        next.values[graph.targets()[e]] += weight * result.values[u];
        next.scales[graph.targets()[e]] += std::fabs(weight) * result.scales[u];
      }
    }
    for (double& scale : next.scales) scale = std::max(scale, least);
    result = std::move(next);
  }
  return result;
}

}  // namespace edgewire::kernels
