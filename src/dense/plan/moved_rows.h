// Edges whose source is mirrored at a peer, and which that peer computes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "dense/plan/edge_rows.h"
#include "edgewire/detail/page_vector.h"
#include "edgewire/numbering.h"

namespace edgewire::plan {

/// The edges that a peer gets to compute, in the form in which it receives them: for each mirror with such
/// edges: its number among the mirrors, the number of edges, the local numbers of their destinations, and
/// their weights (floats or doubles, see weight_bytes()) if edges have weights.
using MovedEdges = topology::PageVector<std::uint32_t>;

/// The receiver's view: the edges by mirror.
class MovedRows final : public EdgeReader {
 public:
  /// Makes the rows. `edges` came from `peer`. `mirrors`: the number of mirrors that the peer has here.
  /// `destinations`: number of owned vertices. `addresses`: those of owned vertices by local number, which
  /// read() needs. Throws Error that names the peer when the edges are wrong.
  MovedRows(MovedEdges edges, int peer, std::uint32_t mirrors, std::uint32_t destinations,
            std::size_t weight_bytes, std::span<const std::uint32_t> addresses = {});
  std::size_t weight_bytes() const noexcept override { return weight_bytes_; }
  std::uint32_t sources() const noexcept override { return static_cast<std::uint32_t>(rows_.size()); }
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const noexcept override {
    return before_[(last + kRowBlock - 1) / kRowBlock] - before_[first / kRowBlock];
  }
  void read(std::uint32_t first, std::uint32_t last, EdgeRows& rows) const override;
  /// Returns the destinations.
  std::span<const LocalNumber> row(std::uint32_t mirror) const noexcept {
    return numbered<LocalNumber>(rows_[mirror]);
  }
  /// Returns the weight of an edge of the row, where edges have weights.
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
  std::span<const std::uint32_t> addresses_;
  std::vector<std::span<const std::uint32_t>> rows_;
  std::vector<std::uint64_t> before_;  ///< number of edges before a row block, [mirror / kRowBlock]
};

}  // namespace edgewire::plan
