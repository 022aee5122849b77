#include "tiles/tile.h"

namespace edgewire::tiles {

Tiles::Tiles(std::span<const std::uint32_t> column_bounds, std::span<const Size> sizes,
             std::span<const std::uint16_t> words, topology::NodeMemory memory) {
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    Column& column = columns_.emplace_back();
    column.begin = column_bounds[c];
    column.width = column_bounds[c + 1] - column_bounds[c];
    column.edges = sizes[c].edges;
    column.parts.push_back(words.first(sizes[c].words));
    words = words.subspan(sizes[c].words);
    edges_ += sizes[c].edges;
  }
  memory_.push_back(std::move(memory));
}

std::uint64_t Tiles::bytes() const noexcept {
  std::uint64_t words = 0;
  for (const Column& column : columns_)
    for (const auto part : column.parts) words += part.size();
  return words * sizeof(std::uint16_t);
}

}  // namespace edgewire::tiles
