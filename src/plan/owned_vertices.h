// The vertices that one process owns, in the order in which it computes them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph_file.h"
#include "plan/ownership.h"
#include "topology/page_vector.h"

namespace edgewire::plan {

enum class Layout {
  given,   ///< ascending ids
  degree,  ///< descending out-degree, so that hubs share cache lines and tiles; equal degrees in ascending
           ///< ids
};

/// Own vertices are known by three numbers: the global id; the local number (see Place); and the index, their
/// position in the layout, by which all arrays of values are addressed. 8 bytes a vertex.
class OwnedVertices {
 public:
  /// Also verifies the rows that it will use. Throws Error with path and offset.
  OwnedVertices(const graph::GraphFile& graph, const Ownership& ownership, int rank, Layout layout,
                const ForEach& for_each);
  /// None yet: to be read by way of arrays().
  OwnedVertices() = default;
  /// Calls array(values) with each array that this consists of, to keep it or to read what was kept.
  template <class Array>
  void arrays(Array& array) {
    array(ids_);
    array(indexes_);
    array(edges_before_);
  }
  /// Whether what was read can be the vertices of `rank`.
  bool fit(const Ownership& ownership, int rank, const ForEach& for_each) const;

  std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(ids_.size()); }
  std::uint64_t edges() const noexcept { return edges_before_.back(); }
  /// Edges of the vertices with indexes [first, last); first is a multiple of kBlock, last too or count().
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const noexcept {
    return edges_before_[(last + kBlock - 1) / kBlock] - edges_before_[first / kBlock];
  }
  static constexpr std::uint32_t kBlock = 64;
  /// [index]: global id.
  std::span<const std::uint32_t> ids() const noexcept { return ids_; }
  /// [local number]: index.
  std::span<const std::uint32_t> indexes() const noexcept { return indexes_; }
  /// Lends indexes() to a plan that would need a copy; give_indexes() brings them back.
  topology::PageVector<std::uint32_t> take_indexes() noexcept { return std::move(indexes_); }
  void give_indexes(topology::PageVector<std::uint32_t> indexes) noexcept { indexes_ = std::move(indexes); }

 private:
  topology::PageVector<std::uint32_t> ids_;
  topology::PageVector<std::uint32_t> indexes_;
  std::vector<std::uint64_t> edges_before_;  ///< [index / kBlock]
};

}  // namespace edgewire::plan
