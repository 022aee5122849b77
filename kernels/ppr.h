// Personalised PageRank by power iteration (Haveliwala: "Topic-Sensitive PageRank", 2002; Page, Brin,
// Motwani, Winograd: "The PageRank Citation Ranking", 1999). The ranks of K sources start at 1/K, all others
// at 0. In an iteration a vertex gives the share `damping` of its rank to the targets of its edges. The rest,
// and the ranks of dangling vertices, go to the sources evenly, so that the ranks sum to 1.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "kernels/pagerank.h"

namespace edgewire::kernels {

/// Throws UsageError unless there are sources, in ascending order, and all are vertices of the graph.
void check_sources(std::span<const VertexId> sources, const graph::GraphFile& graph);

/// The program: as PageRank, but a vertex knows whether it is a source.
template <class Offered>
struct Ppr : WeightedSum<Offered> {
  using Value = double;
  struct Constant {
    Offered inverse_degree;
    std::uint32_t is_source;
  };
  using Message = Offered;
  using Totals = RankTotals;

  /// `all`: the sources, at least one, in ascending order; they outlive it. `form_2015` does not apply.
  Ppr(const PageRankOptions& asked, std::span<const VertexId> all)
      : options(asked), sources(all), count(static_cast<double>(all.size())), convergence(asked.tolerance) {}

  /// Throws UsageError, see DenseRun.
  void check(const graph::GraphFile& graph, bool weighted) const {
    kernels::check(options, weighted);
    check_sources(sources, graph);
  }
  double start(const graph::Row& row) const { return is_source(row) ? 1 / count : 0; }
  /// Throws Error, see Row::weight_sum().
  Constant constant(const graph::Row& row) const {
    return {inverse_degree<Offered>(row, options.weighted), is_source(row) ? 1U : 0U};
  }
  Message message(double rank, Constant constant) const {
    return static_cast<Message>(rank * static_cast<double>(constant.inverse_degree));
  }
  /// Returns what no edge brings to a source.
  double prepare(const Totals& last) const {
    const double d = options.damping;
    return (1 - d + d * last.dangling) / count;
  }
  double apply(double old, double sum, Constant constant, double restart, Totals& own) const {
    const double rank = (constant.is_source != 0 ? restart : 0.0) + options.damping * sum;
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
  bool is_source(const graph::Row& row) const {
    return std::binary_search(sources.begin(), sources.end(), row.vertex);
  }

  PageRankOptions options;
  std::span<const VertexId> sources;
  double count;
  Convergence convergence;
};

}  // namespace edgewire::kernels
