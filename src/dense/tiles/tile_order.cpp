#include "edgewire/detail/tile_order.h"
#include "base/rooms.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "dense/plan/edge_partition.h"
#include "edgewire/detail/tile_format.h"

namespace edgewire::detail {

namespace {

/// A tile, which lies in a cell of the matrix. A cell may have several.
struct PlacedTile {
  std::uint32_t x = 0, strip = 0;  ///< place of the column in the group, and the strip
  TileOrder::Step step;
  std::uint64_t position = 0;  ///< position on the curve
};

/// Adds a tile to steps, of which the last one may go on.
void add(std::vector<TileOrder::Step>& steps, const TileOrder::Step& tile) {
  if (!steps.empty() && steps.back().begin == tile.begin &&
      steps.back().words.data() + steps.back().words.size() == tile.words.data())
    steps.back().words = {steps.back().words.data(), steps.back().words.size() + tile.words.size()};
  else
    steps.push_back(tile);
}

/// Returns the tiles of these columns along the curve.
std::vector<TileOrder::Step> along_curve(const Tiles& tiles, std::span<const std::uint32_t> columns) {
  std::vector<PlacedTile> placed;
  std::uint32_t begin = 0, side = static_cast<std::uint32_t>(columns.size());
  for (std::uint32_t x = 0; x < columns.size(); ++x) {
    for (auto words : tiles.column_data(columns[x])) {
      while (!words.empty()) {
        const auto tile = words.first(words_of(words.data()));
        placed.push_back({x, tile[0], {tile, begin}});
        side = std::max<std::uint32_t>(side, tile[0] + 1U);
        words = words.subspan(tile.size());
      }
    }
    begin += tiles.column_width(columns[x]);
  }
  const auto bits = static_cast<unsigned>(std::bit_width(side - 1));
  for (PlacedTile& one : placed) one.position = plan::hilbert_position(one.x, one.strip, bits);
  std::ranges::stable_sort(placed, {}, &PlacedTile::position);
  std::vector<TileOrder::Step> steps;
  for (const PlacedTile& one : placed) add(steps, one.step);
  return steps;
}

}  // namespace

TileOrder::TileOrder(std::span<const std::uint32_t> column_bounds) {
  for (std::uint32_t c = 0; c + 1 < column_bounds.size(); ++c) {
    groups_.push_back({c});
    places_.push_back({c, 0});
    most_ = std::max(most_, column_bounds[c + 1] - column_bounds[c]);
  }
}

TileOrder::TileOrder(const Tiles& tiles, std::vector<std::vector<std::uint32_t>> groups)
    : groups_(std::move(groups)), places_(tiles.columns()), order_(Order::hilbert) {
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    std::uint32_t begin = 0;
    for (const std::uint32_t column : groups_[g]) {
      places_[column] = {g, begin};
      begin += tiles.column_width(column);
    }
    most_ = std::max(most_, begin);
    steps_.push_back(along_curve(tiles, groups_[g]));
  }
}

TileOrder::TileOrder(const Tiles& tiles, std::span<const std::uint32_t> column_bounds, Bins bins)
    : TileOrder(column_bounds) {
  order_ = Order::bins;
  bins_ = std::move(bins);
  for (std::size_t c = 0; c < tiles.columns(); ++c) {
    auto& steps = steps_.emplace_back();
    for (auto words : tiles.column_data(c)) {
      while (!words.empty()) {
        const auto tile = words.first(words_of(words.data()));
        if (!bins_.holds(c, tile[0])) add(steps, {tile, 0});
        words = words.subspan(tile.size());
      }
    }
  }
}

std::uint64_t TileOrder::bytes(const Tiles& tiles, std::size_t message_bytes) const noexcept {
  if (order_ != Order::bins) return tiles.bytes();
  std::uint64_t sum = bins_.edges() * 2 * (sizeof(std::uint16_t) + message_bytes);
  for (const auto& steps : steps_)
    for (const Step& step : steps) sum += step.words.size_bytes();
  return sum;
}

}  // namespace edgewire::detail
