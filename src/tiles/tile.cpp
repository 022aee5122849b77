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

Tiles::Tiles(std::span<const std::uint32_t> column_bounds, std::span<const Size> sizes, ColumnReader& reader)
    : reader_(&reader) {
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    const auto& [edges, words] = sizes[c];
    columns_.push_back({column_bounds[c], column_bounds[c + 1] - column_bounds[c], edges, words, {}});
    edges_ += edges;
  }
}

std::uint64_t Tiles::bytes(std::size_t column) const noexcept {
  std::uint64_t words = columns_[column].words;
  for (const auto part : columns_[column].parts) words += part.size();
  return words * sizeof(std::uint16_t);
}

std::uint64_t Tiles::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t c = 0; c < columns(); ++c) sum += bytes(c);
  return sum;
}

}  // namespace edgewire::tiles
