// Edges whose source is mirrored at a peer, and which that peer computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/numbering.h"
#include "topology/page_vector.h"

namespace edgewire::plan {

/// The edges that a peer gets to compute, as it receives them. For each mirror with such edges: its number
/// among the mirrors, the number of edges, the local numbers of their destinations, and their weights (floats
/// or doubles, see weight_bytes()) if edges have weights.
using MovedEdges = topology::PageVector<std::uint32_t>;

/// The receiver's view: the edges by mirror.
class MovedRows {
 public:
  static constexpr std::uint32_t kBlock = 64;
  /// `edges` came from `peer`. `mirrors`: how many mirrors the peer has here. `destinations`: number of owned
  /// vertices. Throws Error that names the peer when the edges are wrong.
  MovedRows(MovedEdges edges, int peer, std::uint32_t mirrors, std::uint32_t destinations,
            std::size_t weight_bytes);
  /// See plan::weight_bytes().
  std::size_t weight_bytes() const noexcept { return weight_bytes_; }
  std::uint32_t sources() const noexcept { return static_cast<std::uint32_t>(rows_.size()); }
  /// The number of edges of the mirrors [first, last); first is a multiple of kBlock, last too or sources().
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const noexcept {
    return before_[(last + kBlock - 1) / kBlock] - before_[first / kBlock];
  }
  /// The destinations.
  std::span<const LocalNumber> row(std::uint32_t mirror) const noexcept {
    return numbered<LocalNumber>(rows_[mirror]);
  }
  /// The weight of an edge of the row, where edges have weights.
  double weight(std::uint32_t mirror, std::size_t edge) const noexcept {
    const std::uint32_t* const weights = rows_[mirror].data() + rows_[mirror].size();
    return weight_bytes_ == sizeof(float) ? read<float>(weights, edge) : read<double>(weights, edge);
  }

 private:
  template <class Weight>
  static double read(const std::uint32_t* weights, std::size_t edge) noexcept {
    Weight weight;
    std::memcpy(&weight, weights + edge * (sizeof weight / sizeof *weights), sizeof weight);
    return static_cast<double>(weight);
  }

  MovedEdges edges_;
  std::size_t weight_bytes_;
  std::vector<std::span<const std::uint32_t>> rows_;
  std::vector<std::uint64_t> before_;  ///< [mirror / kBlock]: number of edges before this block
};

}  // namespace edgewire::plan
