// For each peer of a process: which of its source values to mirror there, which sums to send, and the edges
// that the peer computes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph_file.h"
#include "plan/cover.h"
#include "plan/moved_rows.h"
#include "plan/own_vertices.h"
#include "plan/ownership.h"
#include "topology/memory.h"

namespace edgewire::plan {

/// The edges from the own vertices to those of one peer, by source, in memory of their own.
struct PairRows {
  PairRows() = default;
  /// Room for so many.
  PairRows(std::uint64_t rows, std::uint64_t edges);
  PairEdges edges(std::uint32_t destinations) const {
    return {sources.as<std::uint32_t>(), offsets.as<std::uint64_t>(), targets.as<std::uint32_t>(),
            destinations};
  }
  topology::NodeMemory sources, offsets, targets;
};

/// The covers of the edges from the own vertices to those of each peer.
class PairCovers {
 public:
  /// None: for other strategies.
  PairCovers() = default;
  /// Reads the own edges twice; takes 4 bytes for each edge that leaves the process, up to 12 for each source
  /// and peer, until take_moved(), and what minimum_cover() needs, until it returns.
  PairCovers(const graph::GraphFile& graph, const Ownership& ownership, int rank, const OwnVertices& own,
             const ForEach& for_each);

  std::size_t size() const noexcept { return covers_.size(); }
  bool empty() const noexcept { return covers_.empty(); }
  /// Of the peer; empty for the own rank. Sources are named by their index in the own layout, destinations by
  /// their local number at the peer.
  const PairCover& operator[](std::size_t peer) const noexcept { return covers_[peer]; }
  /// The edges that a peer computes: those that must move, and the free ones of some sources, all of each of
  /// them: about free_edges of them, no more. These sources (their indexes) are added to `whole`. Can be
  /// asked once for each peer, then its edges are forgotten.
  MovedEdges take_moved(std::size_t peer, std::uint64_t free_edges, std::vector<std::uint32_t>& whole);

 private:
  const OwnVertices* own_ = nullptr;
  std::vector<std::uint32_t> counts_;  ///< [peer]: its vertices
  std::vector<PairRows> rows_;         ///< [peer]
  std::vector<PairCover> covers_;      ///< [peer]
};

}  // namespace edgewire::plan
