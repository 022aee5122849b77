// Betweenness centrality from many sources: each worker searches from sources of its own. Nothing is sent
// before the end, and no worker waits for another one at the end of a level.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontier/searches.h"
#include "kernels/bc/bc.h"

namespace edgewire::kernels {

class BcBySource {
 public:
  /// The values of Superstep::kind. In kSearches `frontier` has the vertices that were reached and `step` the
  /// number of sources, in kSums `frontier` has the sums that were sent.
  static constexpr std::uint64_t kSearches = 2, kSums = 3;

  /// Returns whether each worker searches from sources of its own, see Searches::apart(): always where sums
  /// are in order or paths weighted, since Bc of several workers knows neither.
  static bool chosen(const frontier::SearchPlan& plan, const BcOptions& options);

  /// Makes the kernel. `job` was made for tasks, and outlives this. Collective. Throws Error, also where
  /// weights are asked for and the graph has none, or one that is not above 0.
  BcBySource(frontier::Job& job, const BcOptions& options);
  /// Does the same as Bc::resume(), before the first run(). `scores`: the former result of scores().
  void resume(std::vector<double> scores);
  /// Does the same as Bc::run(). It may be called again; no worker begins with these sources before all have
  /// ended with those of the call before. `later`: the number of sources of later calls, for the progress.
  std::vector<frontier::Superstep> run(std::span<const VertexId> sources, std::size_t later = 0);
  /// Returns the scores of all vertices at rank 0; elsewhere nothing.
  const std::vector<double>& scores() const noexcept { return scores_; }

 private:
  std::vector<double> own_sums() const;

  frontier::Job& job_;
  bool in_order_;
  frontier::Searches searches_;
  tasks::FunctionId sums_;
  std::vector<double> before_;  ///< scores of an earlier run, at rank 0
  std::vector<double> scores_;
};

}  // namespace edgewire::kernels
