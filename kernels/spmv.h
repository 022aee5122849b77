// y = A x for the sparse matrix A whose entry in row v and column u is the sum of the weights of the edges
// (u, v), or their number without weights: y[v] is the sum of w(u, v) x[u] over the edges into v. Rows of a
// graph file are the columns of A. Repeated: x <- y (Saad: "Iterative Methods for Sparse Linear Systems",
// 2003, chapter 3).
#pragma once

#include <cmath>
#include <limits>
#include <span>

#include "base/rooms.h"
#include "edgewire/detail/weighted_sum.h"
#include "edgewire/graph.h"

namespace edgewire::kernels {

/// Throws UsageError unless x is empty or has a value for each vertex.
void check_vector(std::span<const double> x, const Graph& graph);

/// The program: values and sums are doubles, a message is the value as float or double.
template <class Offered>
struct Spmv : tiles::WeightedSum<Offered> {
  using Value = double;
  struct Constant {};
  using Message = Offered;
  struct Totals {
    double too_large = 0;  ///< number of vertices whose value is no finite number of type Offered
  };

  /// Makes the program. `vector`: x by vertex, which outlives it; empty: all are 1.
  explicit Spmv(std::span<const double> vector) : x(vector) {}

  /// Throws UsageError, see DenseRun.
  void check(const Graph& graph, bool) const { check_vector(x, graph); }
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

}  // namespace edgewire::kernels
