// Decides for each peer which source values to mirror there, which partial sums to send, and which edges the
// peer computes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/bits.h"
#include "dense/plan/cover.h"
#include "dense/plan/moved_rows.h"
#include "dense/plan/owned_vertices.h"
#include "partition/owned_rows.h"
#include "partition/ownership.h"

namespace edgewire::plan {

class PairRows;

/// The covers of the edges from the owned vertices to the vertices of each peer.
class PairCovers {
 public:
  /// Makes no covers, for other strategies than `cover`.
  PairCovers() = default;
  /// Computes the covers. Until take_moved(), it keeps a copy of the edges that leave the process, up to 6
  /// bytes each and 16 for each source and peer, and of those that must move. While it runs, it also needs
  /// the memory of minimum_cover(). `weighted`: moved edges take their weights along. Ownership, and the
  /// graph of the rows, outlive it.
  PairCovers(const partition::OwnedRows& rows, const partition::Ownership& ownership, int rank,
             const OwnedVertices& owned, int workers, const ForEach& for_each, bool weighted = false);

  std::size_t size() const noexcept { return covers_.size(); }
  bool empty() const noexcept { return covers_.empty(); }
  /// Returns the cover for the peer; empty for this rank.
  const PairCover& operator[](std::size_t peer) const noexcept { return covers_[peer]; }
  /// Returns the mirrors of that cover in the order of this process's layout, in which they have their slots.
  NumberedBy<Slot, std::span<const OwnedIndex>> mirrors(std::size_t peer) const noexcept {
    return mirrors_[peer];
  }
  /// Returns the edges that each peer will compute. These are the edges that must move, and about
  /// free_edges[peer] free ones, but not more. Either all free edges of a source move or none; the indexes of
  /// the sources whose free edges move are appended to whole[peer]. `owned`: as before. Call it once.
  std::vector<MovedEdges> take_moved(const OwnedVertices& owned, std::span<const std::uint64_t> free_edges,
                                     std::vector<std::vector<OwnedIndex>>& whole, const ForEach& for_each);

 private:
  MovedEdges pack(const OwnedVertices& owned, std::uint32_t peer, std::uint64_t free_edges,
                  std::vector<OwnedIndex>& whole);
  std::uint32_t* copy_weights(std::uint32_t peer, LocalNumber source, const Bits* left_out,
                              std::uint32_t* out) const;

  std::optional<partition::OwnedRows> owned_;
  const partition::Ownership* ownership_ = nullptr;
  std::uint32_t rank_ = 0;
  bool weighted_ = false;
  std::shared_ptr<PairRows> rows_;
  std::vector<PairCover> covers_;                 ///< covers, [peer]
  std::vector<std::vector<OwnedIndex>> mirrors_;  ///< mirrors, [peer]
  std::vector<MovedEdges> moved_;                 ///< edges that must move, [peer]
};

}  // namespace edgewire::plan
