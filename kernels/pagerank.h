// PageRank by power iteration (Page, Brin, Motwani, Winograd: "The PageRank Citation Ranking", 1999).
// All ranks start at 1/n. In an iteration a vertex gives the share `damping` of its rank to the targets of
// its edges; edges that occur several times count several times. The ranks of dangling vertices, which have
// no edges, and the rest go to all vertices evenly, so that the ranks sum to 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "base/error.h"
#include "base/rooms.h"
#include "edgewire/detail/weighted_sum.h"
#include "edgewire/graph.h"
#include "edgewire/kernels.h"

namespace edgewire::kernels {

/// The reason why a run ended.
enum class Ending {
  iterations,  ///< after as many as were asked for
  tolerance,   ///< because the values changed by less than the tolerance
  stalled      ///< because their change has not fallen for ten iterations: rounding hides any progress
};

/// The decision, after each iteration, whether the values have changed little enough.
class Convergence {
 public:
  /// Begins a run. `tolerance`: the limit of the sum of all changes.
  explicit Convergence(double tolerance) : tolerance_(tolerance) {}
  /// Returns whether the run ends. `change`: the sum of the changes in the iteration.
  bool reached(double change) {
    constexpr int kPatience = 10;
    without_progress_ = change < least_ ? 0 : without_progress_ + 1;
    least_ = std::min(least_, change);
    if (change < tolerance_)
      ending_ = Ending::tolerance;
    else if (without_progress_ >= kPatience)
      ending_ = Ending::stalled;
    return ending_ != Ending::iterations;
  }
  Ending ending() const { return ending_; }

 private:
  double tolerance_;
  double least_ = std::numeric_limits<double>::infinity();  ///< least change so far
  int without_progress_ = 0;                                ///< number of iterations since then
  Ending ending_ = Ending::iterations;
};

/// Throws UsageError when an option makes no sense, or is at odds with edges that are `weighted`, or not.
void check(const PageRankOptions& options, bool weighted);

struct RankTotals {
  double dangling = 0, change = 0;  ///< rank of dangling vertices; L1 change of the last step
};

/// Returns 1 / out-degree, or 1 / sum of weights; 0 for dangling vertices. Throws as Row::weight_sum().
template <class Offered>
Offered inverse_degree(const graph::Row& row, bool weighted) {
  const bool floats = sizeof(Offered) == sizeof(float);
  const double degree = weighted ? row.weight_sum(floats) : static_cast<double>(row.degree());
  return degree == 0 ? 0 : static_cast<Offered>(1.0 / degree);
}

/// The program: ranks in double; a message is rank / out-degree, float or double.
template <class Offered>
struct PageRank : tiles::WeightedSum<Offered> {
  using Value = double;
  using Constant = Offered;  ///< inverse of the out-degree, 0 for dangling vertices
  using Message = Offered;
  using Totals = RankTotals;

  PageRank(const PageRankOptions& asked, std::uint64_t vertices)
      : options(asked), n(static_cast<double>(vertices)), convergence(asked.tolerance) {}

  /// Throws UsageError, see DenseRun.
  void check(const Graph& graph, bool weighted) const {
    kernels::check(options, weighted);
    if (n != static_cast<double>(graph.vertices()))
      throw UsageError("the number of vertices of PageRank is not that of " + graph.path());
  }
  double start(const graph::Row&) const { return start_rank(); }
  Constant constant(const graph::Row& row) const { return inverse_degree<Offered>(row, options.weighted); }
  Message message(double rank, Constant inverse_degree) const {
    return static_cast<Message>(rank * static_cast<double>(inverse_degree));
  }
  /// Returns the part of a rank that no edge brings.
  double prepare(const Totals& last) const {
    const double d = options.damping;
    return options.form_2015 ? 1 - d : (1 - d + d * last.dangling) / n;
  }
  double apply(double old, double sum, Constant inverse_degree, double base, Totals& own) const {
    const double rank = base + options.damping * sum;
    own.change = std::fabs(rank - old);
    own.dangling = inverse_degree == 0 ? rank : 0.0;
    return rank;
  }
  Totals first_totals(std::span<const double> ranks, std::span<const Constant> inverse_degrees) const {
    // Equal ranks are multiplied, not added: that rounds once, and counting is quick.
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
  bool done(const Totals& totals) { return convergence.reached(totals.change); }
  double largest() const { return options.form_2015 ? n : 1; }
  /// Returns the largest message of a vertex. With weights they may be far from 1 in either direction.
  double largest(Constant inverse_degree) const {
    return options.weighted && inverse_degree > 0 ? largest() * static_cast<double>(inverse_degree)
                                                  : largest();
  }
  double start_rank() const { return options.form_2015 ? 0 : 1 / n; }

  PageRankOptions options;
  double n;
  Convergence convergence;
};

}  // namespace edgewire::kernels
