// The vertices that one process owns, in the order in which it computes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "dense/plan/edge_rows.h"
#include "edgewire/detail/page_vector.h"
#include "partition/owned_rows.h"
#include "partition/ownership.h"

namespace edgewire::plan {

enum class Layout {
  given,   ///< orders by ascending ids
  degree,  ///< orders by descending out-degree, so that high-degree vertices share cache lines and tiles;
           ///< ascending ids where degrees are equal
};

/// The vertices of a process in their layout. All arrays of values are addressed by the index of the owned
/// vertex, which is its position in the layout. It takes 8 bytes a vertex, 12 where ids have 64 bits.
class OwnedVertices {
 public:
  /// Makes the vertices of a process, and verifies their rows. Throws Error with path and offset.
  OwnedVertices(const partition::OwnedRows& rows, const partition::Ownership& ownership, int rank,
                Layout layout, const ForEach& for_each);
  /// Makes an empty one, for arrays() to fill.
  OwnedVertices() = default;
  /// Calls array(values) for each array of `owned`, to store it or to read it back.
  template <class Owned, class Array>
  static void arrays(Owned& owned, Array& array) {
    array(owned.ids_);
    array(owned.indexes_);
    array(owned.edges_before_);
  }
  /// Returns whether the arrays that were read back can be the vertices of `rank`.
  bool fit(const partition::Ownership& ownership, int rank, const ForEach& for_each) const;

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(ids_.size()); }
  std::uint64_t edges() const noexcept { return edges_before_.back(); }
  /// Returns the number of edges of the vertices with indexes [first, last); first is a multiple of
  /// kRowBlock, last too or count().
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const noexcept {
    return edges_before_[(last + kRowBlock - 1) / kRowBlock] - edges_before_[first / kRowBlock];
  }
  NumberedBy<OwnedIndex, std::span<const VertexId>> ids() const noexcept { return numbered<VertexId>(ids_); }
  NumberedBy<LocalNumber, std::span<const OwnedIndex>> indexes() const noexcept {
    return numbered<OwnedIndex>(indexes_);
  }
  /// Lends indexes() to a plan, which then needs no copy. give_indexes() returns them.
  topology::PageVector<std::uint32_t> take_indexes() noexcept { return std::move(indexes_); }
  void give_indexes(topology::PageVector<std::uint32_t> indexes) noexcept { indexes_ = std::move(indexes); }

 private:
  // The numbers are without their types, since sorting exchanges them, and a plan borrows the indexes for
  // other numbers.
  topology::PageVector<PlainId> ids_;            ///< ids, [index]
  topology::PageVector<std::uint32_t> indexes_;  ///< indexes, [local number]
  std::vector<std::uint64_t> edges_before_;      ///< number of edges before a row block, [index / kRowBlock]
};

}  // namespace edgewire::plan
