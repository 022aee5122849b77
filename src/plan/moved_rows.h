// Edges whose source is mirrored, on their way to the process that computes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "topology/page_vector.h"

namespace edgewire::plan {

/// What a peer gets to compute: of each mirror that has such edges its number among the mirrors, how many
/// they are, and the local numbers of their destinations.
using MovedEdges = topology::PageVector<std::uint32_t>;

/// The receiver's view: the edges by mirror.
class MovedRows {
 public:
  static constexpr std::uint32_t kBlock = 64;
  /// From `peer`, which has so many mirrors here; `destinations`: owned vertices. Throws Error naming the
  /// peer where the edges are faulty.
  MovedRows(MovedEdges edges, int peer, std::uint32_t mirrors, std::uint32_t destinations);
  std::uint32_t sources() const noexcept { return static_cast<std::uint32_t>(rows_.size()); }
  /// Of the mirrors [first, last); first is a multiple of kBlock, last too or sources().
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const noexcept {
    return before_[(last + kBlock - 1) / kBlock] - before_[first / kBlock];
  }
  /// Local numbers of the destinations.
  std::span<const std::uint32_t> row(std::uint32_t mirror) const noexcept { return rows_[mirror]; }

 private:
  MovedEdges edges_;
  std::vector<std::span<const std::uint32_t>> rows_;
  std::vector<std::uint64_t> before_;  ///< [mirror / kBlock]: edges of those before
};

}  // namespace edgewire::plan
