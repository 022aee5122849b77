#include <algorithm>

#include "kernels/tile.h"
#include "kernels/tile_sweep.h"

namespace edgewire::kernels {

std::uint64_t Tiles::bytes() const noexcept {
  std::uint64_t words = 0;
  for (const Column& column : columns_) words += column.words;
  return words * sizeof(std::uint16_t);
}

void compute_column(const Tiles& tiles, std::size_t column, const float* x, double* sums) noexcept {
  std::fill_n(sums, tiles.column_width(column), 0.0);
  add_column(tiles, column, x, sums);
}

void add_column(const Tiles& tiles, std::size_t column, const float* x, double* sums) noexcept {
  const std::span<const std::uint16_t> data = tiles.column_data(column);
  sweep(data.data(), data.data() + data.size(), x, sums);
}

}  // namespace edgewire::kernels
