// The order in which a worker sweeps tiles: strip by strip in one column after the other, or along the
// Hilbert curve over the strips of several columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tiles/tile.h"

namespace edgewire::tiles {

enum class Order { strips, hilbert };
constexpr std::string_view to_name(Order order) noexcept {
  return order == Order::strips ? "strips" : "hilbert";
}

/// Groups of columns. A worker computes a group at a time, with accumulators for all its columns. Immutable.
class TileOrder {
 public:
  /// A piece of the curve: tiles of one column.
  struct Step {
    std::span<const std::uint16_t> words;
    std::uint32_t begin = 0;  ///< of the column's accumulators in the group
  };

  TileOrder() = default;
  /// Strip by strip: each column is a group, with the column's number.
  explicit TileOrder(std::span<const std::uint32_t> column_bounds);
  /// Along the Hilbert curve: in each group, a cell of the matrix is the tiles of a strip in a column. A
  /// curve that leaves a cell enters a neighbour: the next tiles use the same sources or the same
  /// accumulators. `groups` name each column once. `tiles` are in memory, and outlive the order.
  TileOrder(const Tiles& tiles, std::vector<std::vector<std::uint32_t>> groups);

  Order order() const noexcept { return steps_.empty() ? Order::strips : Order::hilbert; }
  std::size_t groups() const noexcept { return groups_.size(); }
  std::span<const std::uint32_t> columns(std::size_t group) const noexcept { return groups_[group]; }
  std::size_t group_of(std::size_t column) const noexcept { return places_[column].group; }
  /// Where the column's accumulators start within those of its group.
  std::uint32_t begin(std::size_t column) const noexcept { return places_[column].begin; }
  /// Accumulators of the largest group.
  std::uint32_t most() const noexcept { return most_; }
  /// The tiles of a group along the curve; none where a column is swept strip by strip.
  std::span<const Step> steps(std::size_t group) const noexcept {
    return steps_.empty() ? std::span<const Step>() : steps_[group];
  }

 private:
  struct Place {
    std::uint32_t group = 0;
    std::uint32_t begin = 0;
  };
  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<Place> places_;             ///< [column]
  std::vector<std::vector<Step>> steps_;  ///< [group]; empty: strip by strip
  std::uint32_t most_ = 0;
};

}  // namespace edgewire::tiles
