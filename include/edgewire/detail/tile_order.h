// The order in which a worker sweeps tiles: strip by strip in one column after the other, along the Hilbert
// curve over the strips of several columns, or strip by strip without thin cells, whose edges are in bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "edgewire/detail/bins.h"
#include "edgewire/detail/tile.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

enum class Order { strips, hilbert, bins };
inline constexpr std::size_t kOrders = 3;
constexpr std::string_view to_name(Order order) noexcept {
  return order == Order::strips ? "strips" : order == Order::hilbert ? "hilbert" : "bins";
}

/// Groups of columns. A worker computes a group at a time, with accumulators for all its columns. An order
/// does not change.
class TileOrder {
 public:
  /// Tiles of one column that follow each other.
  struct Step {
    std::span<const std::uint16_t> words;
    std::uint32_t begin = 0;  ///< of the column's accumulators in the group
  };

  TileOrder() = default;
  /// Makes an order strip by strip: each column is a group, with the column's number.
  explicit TileOrder(std::span<const std::uint32_t> column_bounds);
  /// Makes an order along the Hilbert curve: in each group, a cell of the matrix is the tiles of a strip in a
  /// column. A curve that leaves a cell enters a neighbour: the next tiles use the same sources or the same
  /// accumulators. `groups` name each column once. `tiles` are in memory, and outlive the order.
  TileOrder(const Tiles& tiles, std::vector<std::vector<std::uint32_t>> groups);
  /// Makes an order with bins: each column is a group, and edges of thin cells are in `bins`, which were made
  /// of these tiles. `tiles` as above.
  TileOrder(const Tiles& tiles, std::span<const std::uint32_t> column_bounds, Bins bins);

  Order order() const noexcept { return order_; }
  /// Returns the bins, which are empty in the other orders.
  const Bins& bins() const noexcept { return bins_; }
  std::size_t groups() const noexcept { return groups_.size(); }
  std::span<const std::uint32_t> columns(std::size_t group) const noexcept { return groups_[group]; }
  std::size_t group_of(std::size_t column) const noexcept { return places_[column].group; }
  /// Returns where the column's accumulators start within those of its group.
  std::uint32_t begin(std::size_t column) const noexcept { return places_[column].begin; }
  /// Accumulators of the largest group.
  std::uint32_t most() const noexcept { return most_; }
  /// Returns the tiles of a group; not in order `strips`, where a column is swept as it is.
  std::span<const Step> steps(std::size_t group) const noexcept {
    return steps_.empty() ? std::span<const Step>() : steps_[group];
  }
  /// Returns what one sweep over `tiles` reads, and writes into bins, beside sources and accumulators.
  std::uint64_t bytes(const Tiles& tiles, std::size_t message_bytes) const noexcept;

 private:
  struct Place {
    std::uint32_t group = 0;
    std::uint32_t begin = 0;
  };
  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<Place> places_;             ///< [column]
  std::vector<std::vector<Step>> steps_;  ///< [group]
  Order order_ = Order::strips;
  Bins bins_;
  std::uint32_t most_ = 0;
};

}  // namespace edgewire::detail

#pragma GCC visibility pop
