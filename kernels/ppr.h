// Personalised PageRank by power iteration (Haveliwala: "Topic-Sensitive PageRank", 2002; Page, Brin,
// Motwani, Winograd: "The PageRank Citation Ranking", 1999). The ranks of sources start at their shares of 1,
// which are 1/K of K sources unless they are given, all others at 0. In an iteration a vertex gives the part
// `damping` of its rank to the targets of its edges. The rest, and the ranks of dangling vertices, go to the
// sources by their shares, so that the ranks sum to 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/pagerank.h"

namespace edgewire::kernels {

/// Throws UsageError unless there are sources, in ascending order, and all are vertices of the graph.
void check_sources(std::span<const VertexId> sources, const Graph& graph);

/// Returns shares as parts of the largest one. Throws UsageError unless all are positive and fit floats.
std::vector<double> relative_shares(std::vector<double> shares);

/// The sources where personalised ranks start, and to which they return. It does not own them.
struct Restarts {
  std::span<const VertexId> vertices{};  ///< sources, at least one, in ascending order
  /// Shares of the sources, as relative_shares() returns them; empty: all are 1.
  std::span<const double> shares{};

  /// Throws UsageError, see check_sources(), or when there are not as many shares as sources.
  void check(const Graph& graph) const;
  /// Returns the share of a vertex; 0 where it is no source.
  double share(VertexId vertex) const {
    const auto found = std::ranges::lower_bound(vertices, vertex);
    if (found == vertices.end() || *found != vertex) return 0;
    return shares.empty() ? 1 : shares[static_cast<std::size_t>(found - vertices.begin())];
  }
  double sum() const {
    return shares.empty() ? static_cast<double>(vertices.size())
                          : std::accumulate(shares.begin(), shares.end(), 0.0);
  }
};

/// The program: as PageRank, but a vertex knows its share of the rank that returns to the sources.
template <class Offered>
struct Ppr : tiles::WeightedSum<Offered> {
  using Value = double;
  struct Constant {
    Offered inverse_degree;
    Offered share;
  };
  using Message = Offered;
  using Totals = RankTotals;

  /// Makes the program. The arrays of `all` outlive it. `form_2015` does not apply.
  Ppr(const PageRankOptions& asked, const Restarts& all)
      : options(asked), restarts(all), shares(all.sum()), convergence(asked.tolerance) {}

  /// Throws UsageError, see DenseRun.
  void check(const Graph& graph, bool weighted) const {
    kernels::check(options, weighted);
    restarts.check(graph);
  }
  double start(const graph::Row& row) const { return restarts.share(row.vertex) / shares; }
  /// Throws Error, see Row::weight_sum().
  Constant constant(const graph::Row& row) const {
    return {inverse_degree<Offered>(row, options.weighted), static_cast<Offered>(restarts.share(row.vertex))};
  }
  Message message(double rank, Constant constant) const {
    return static_cast<Message>(rank * static_cast<double>(constant.inverse_degree));
  }
  /// Returns the rank that no edge brings to a source whose share is 1.
  double prepare(const Totals& last) const {
    const double d = options.damping;
    return (1 - d + d * last.dangling) / shares;
  }
  double apply(double old, double sum, Constant constant, double restart, Totals& own) const {
    const double rank = static_cast<double>(constant.share) * restart + options.damping * sum;
    own.change = std::fabs(rank - old);
    own.dangling = constant.inverse_degree == 0 ? rank : 0.0;
    return rank;
  }
  Totals first_totals(std::span<const double> ranks, std::span<const Constant> constants) const {
    double dangling = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i)
      if (constants[i].inverse_degree == 0) dangling += ranks[i];
    return {dangling, 0};
  }
  bool done(const Totals& totals) { return convergence.reached(totals.change); }

  PageRankOptions options;
  Restarts restarts;
  double shares;  ///< sum of all shares
  Convergence convergence;
};

}  // namespace edgewire::kernels
