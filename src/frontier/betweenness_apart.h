// Betweenness centrality from many sources: each worker searches from sources of its own. Nothing is sent
// before the end, and no worker waits for another one at the end of a level.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier_job.h"

namespace edgewire::frontier {

class BetweennessApart {
 public:
  /// Superstep::kind. In kSearches `frontier` has the vertices that were reached, in kSums the records that
  /// were sent.
  static constexpr std::uint64_t kSearches = 2, kSums = 3;

  /// Whether each worker gets two sources or more, and has the memory: that of Betweenness, and 8 bytes more
  /// for each vertex of the graph.
  static bool pays(FrontierJob& job, std::size_t sources);

  /// Reads the rows of the whole graph. Collective; throws Error when the file is damaged.
  explicit BetweennessApart(FrontierJob& job);
  /// As Betweenness.
  std::vector<Superstep> run(std::span<const std::uint32_t> sources);
  const std::vector<double>& scores() const noexcept { return scores_; }

 private:
  void search(std::span<const std::uint32_t> sources, Superstep& done);
  void send_sums(int lane, Superstep& done);

  FrontierJob& job_;
  std::vector<std::vector<double>> sums_;  ///< [worker][vertex]; empty: this worker had no source
  std::vector<double> scores_;             ///< [local number]
};

}  // namespace edgewire::frontier
