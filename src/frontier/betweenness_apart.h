// Betweenness centrality from many sources: each worker searches from sources of its own. Nothing is sent
// before the end, and no worker waits for another one at the end of a level.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontier/searches.h"

namespace edgewire::frontier {

struct BetweennessApartOptions {
  bool in_order = false;   ///< all sums are added in the same order in every run; a worker that is done waits
  bool weighted = false;   ///< shortest paths have the least sum of weights, see betweenness_weighted.h
  bool endpoints = false;  ///< as Betweenness
};

class BetweennessApart {
 public:
  /// Superstep::kind. In kSearches `frontier` has the vertices that were reached and `step` the number of
  /// sources, in kSums `frontier` has the sums that were sent.
  static constexpr std::uint64_t kSearches = 2, kSums = 3;

  /// Whether workers search apart, see Searches::apart(): always where sums are in order or paths weighted,
  /// since Betweenness knows neither.
  static bool chosen(const SearchPlan& plan, const BetweennessApartOptions& options);

  /// `job` was made for tasks, and outlives this. Collective. Throws Error, also where weights are asked for
  /// and the graph has none, or one that is not above 0.
  BetweennessApart(FrontierJob& job, const BetweennessApartOptions& options);
  /// As Betweenness, before the first run(); `scores`: as scores().
  void take_up(std::vector<double> scores);
  /// As Betweenness. May be called again, and adds to scores(); no worker begins with these sources before
  /// all have ended with those of the call before.
  /// `later`: sources of the calls that follow, of which the progress tells, too.
  std::vector<Superstep> run(std::span<const VertexId> sources, std::size_t later = 0);
  /// [vertex]: at rank 0; elsewhere empty.
  const std::vector<double>& scores() const noexcept { return scores_; }

 private:
  std::vector<double> own_sums() const;

  FrontierJob& job_;
  bool in_order_;
  Searches searches_;
  tasks::FunctionId sums_;
  std::vector<double> before_;  ///< of an earlier run: at rank 0
  std::vector<double> scores_;
};

}  // namespace edgewire::frontier
