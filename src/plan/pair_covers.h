// For each peer of a process: which of its source values to mirror there, which sums to send, and the edges
// that the peer computes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph_file.h"
#include "plan/cover.h"
#include "plan/moved_rows.h"
#include "plan/owned_vertices.h"
#include "plan/ownership.h"
#include "plan/pair_rows.h"

namespace edgewire::plan {

/// The covers of the edges from the owned vertices to those of each peer.
class PairCovers {
 public:
  /// None: for other strategies.
  PairCovers() = default;
  /// Keeps a copy of the edges that leave the process, see PairRows, and of those that must move, until
  /// take_moved(); needs what minimum_cover() needs, until it returns.
  PairCovers(const graph::GraphFile& graph, const Ownership& ownership, int rank, const OwnedVertices& owned,
             int workers, const ForEach& for_each);

  std::size_t size() const noexcept { return covers_.size(); }
  bool empty() const noexcept { return covers_.empty(); }
  /// Of the peer; empty for this rank. Sources are named by their index in this process's layout,
  /// destinations by their local number at the peer.
  const PairCover& operator[](std::size_t peer) const noexcept { return covers_[peer]; }
  /// [peer]: the edges that it computes: those that must move, and of free_edges[peer] free ones or a little
  /// less, all of each of some sources. The indexes of these sources are added to whole[peer]. Can be asked
  /// once.
  std::vector<MovedEdges> take_moved(std::span<const std::uint64_t> free_edges,
                                     std::vector<std::vector<std::uint32_t>>& whole, const ForEach& for_each);

 private:
  const OwnedVertices* owned_ = nullptr;
  std::unique_ptr<PairRows> rows_;
  std::vector<PairCover> covers_;  ///< [peer]
  std::vector<MovedEdges> moved_;  ///< [peer]: those that must
};

}  // namespace edgewire::plan
