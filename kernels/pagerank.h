// PageRank by power iteration (Page, Brin, Motwani, Winograd: "The PageRank Citation Ranking", 1999).
// All ranks start at 1/n. In an iteration a vertex gives the share `damping` of its rank to the targets of
// its edges; edges that occur several times count several times. The ranks of dangling vertices, which have
// no edges, and the rest go to all vertices evenly, so that the ranks sum to 1.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/row.h"
#include "plan/volume.h"

namespace edgewire::kernels {

struct PageRankOptions {
  int iterations = 20;
  double damping = 0.85;
  double tolerance = 0;  ///< stop when the ranks have changed by less in sum; 0: never
  /// The form of McSherry's posts of 2015: start 0, new rank = 1 - damping + damping * sum, dangling mass
  /// dropped.
  bool form_2015 = false;
  /// A vertex shares its rank among its edges in proportion to their weights, none of which is negative. A
  /// vertex whose weights sum to 0 is dangling. Otherwise the shares are equal.
  bool weighted = false;
};

/// Why a run ended.
enum class Ending {
  iterations,  ///< as many as were asked for
  tolerance,   ///< the ranks changed by less than the tolerance
  stalled      ///< their change has not fallen for ten iterations: rounding hides any progress
};

/// The program: ranks in double; a message is rank / out-degree, float or double.
template <class Offered>
struct PageRank {
  using Value = double;
  using Constant = Offered;  ///< 1 / out-degree, 0 for dangling vertices
  using Message = Offered;
  using Accumulator = double;
  struct Totals {
    double dangling = 0, change = 0;  ///< rank without edges; L1 of the last step
  };

  PageRank(const PageRankOptions& asked, std::uint64_t vertices)
      : options(asked), n(static_cast<double>(vertices)) {}

  static constexpr double identity() { return 0; }
  static double along(Message message) { return static_cast<double>(message); }
  static double along(Message message, float weight) {
    return static_cast<double>(message) * static_cast<double>(weight);
  }
  static double combine(double a, double b) { return a + b; }

  double start(const graph::Row&) const { return start_rank(); }
  /// Throws Error when a weight is negative, or their sum is too large or small for a float.
  Constant constant(const graph::Row& row) const;
  Message message(double rank, Constant inverse_degree) const {
    return static_cast<Message>(rank * static_cast<double>(inverse_degree));
  }
  /// The part of a rank that no edge brings.
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
  Totals first_totals(std::span<const double> ranks, std::span<const Constant> inverse_degrees) const;
  bool done(const Totals& totals);
  double largest() const { return options.form_2015 ? n : 1; }
  double start_rank() const { return options.form_2015 ? 0 : 1 / n; }

  PageRankOptions options;
  double n;
  Ending ending = Ending::iterations;

 private:
  double least_change_ = std::numeric_limits<double>::infinity();
  int without_progress_ = 0;  ///< iterations since least_change_
};

/// Most that rounding can change the ranks after some iterations.
struct ErrorBound {
  double in_sum = 0;  ///< sum of all changes / sum of all ranks; about rounding / (1 - damping)
  double vertex = 0;  ///< of any rank, relative to it; infinite where values travel in 16 bits
};
/// A message is rounded twice, as is its inverse degree, and once or twice more on its way to another process
/// (16 bits: with error feedback by its own rounding and the last one's); an iteration passes on `damping` of
/// all earlier error, to a single vertex at most all of it.
ErrorBound error_bound(const PageRankOptions& options, int iterations, plan::Encoding encoding,
                       int processes);

/// The same by plain sequential power iteration in double: what `--verify` compares with. Ranks by vertex.
std::vector<double> reference_pagerank(const graph::GraphFile& graph, const PageRankOptions& options);

}  // namespace edgewire::kernels
