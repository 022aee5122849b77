// The edges of a process as tiles, column by column: what a sweep reads. src/dense/tiles/build_tiles.h says
// how they are cut, and builds them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewire/detail/memory.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

inline constexpr std::uint32_t kColumnWidth = 65536;  ///< most destinations of a column: 16 bits address them
inline constexpr std::uint32_t kStripWidth = 65536;   ///< sources of a strip at most
inline constexpr std::uint32_t kBundle = 16;          ///< others of a bundle at most

/// Hands the words of tiles to workers where they are not in memory.
class ColumnReader {
 public:
  virtual ~ColumnReader() = default;
  /// Part `number` of the tiles of a column: whole tiles (see tile_format.h), in order; empty behind the last
  /// part, and after a failure, of which the reader tells others itself. It stays as it is until the worker's
  /// next call. Each worker goes through the parts of one column after the other, from 0 to the empty one.
  virtual std::span<const std::uint16_t> part(int worker, std::size_t column,
                                              std::size_t number) noexcept = 0;
};

/// The edges of a process as tiles, column by column. They do not change once they are built, and all workers
/// read them. They can be moved.
class Tiles {
 public:
  /// The size of a column.
  struct Size {
    std::uint64_t edges = 0;
    std::uint64_t words = 0;
  };

  Tiles() = default;
  /// Tiles that were built before. `words`: the column_data() of all columns, one after the other; sizes[c]
  /// says how many of them belong to column c. Columns as for build_tiles(). The words outlive the tiles.
  Tiles(std::span<const std::uint32_t> column_bounds, std::span<const Size> sizes,
        std::span<const std::uint16_t> words);
  /// Tiles whose words are where `reader` takes them from; it outlives them.
  Tiles(std::span<const std::uint32_t> column_bounds, std::span<const Size> sizes, ColumnReader& reader);

  std::size_t columns() const noexcept { return columns_.size(); }
  std::uint32_t column_begin(std::size_t column) const noexcept { return columns_[column].begin; }
  std::uint32_t column_width(std::size_t column) const noexcept { return columns_[column].width; }
  std::uint64_t edges(std::size_t column) const noexcept { return columns_[column].edges; }
  std::uint64_t edges() const noexcept { return edges_; }
  /// Returns the data of the column's tiles, which is what one sweep reads. Each part holds whole tiles. The
  /// layout is in tile_format.h. There are no parts where there is a reader.
  std::span<const std::span<const std::uint16_t>> column_data(std::size_t column) const noexcept {
    return columns_[column].parts;
  }
  /// Does the same as ColumnReader::part(). There is a reader where the words are not in memory.
  std::span<const std::uint16_t> part(int worker, std::size_t column, std::size_t number) const noexcept {
    if (reader_ != nullptr) return reader_->part(worker, column, number);
    const auto& parts = columns_[column].parts;
    return number < parts.size() ? parts[number] : std::span<const std::uint16_t>();
  }
  /// Returns how many bytes one sweep over a column, or over all columns, reads.
  std::uint64_t bytes(std::size_t column) const noexcept;
  std::uint64_t bytes() const noexcept;

 private:
  template <class Pair>
  friend class TileBuilder;
  friend struct TileMover;
  struct Column {
    std::uint32_t begin = 0;
    std::uint32_t width = 0;
    std::uint64_t edges = 0;
    std::uint64_t words = 0;  ///< where there is a reader
    std::vector<std::span<const std::uint16_t>> parts;
  };
  std::vector<Column> columns_;
  std::uint64_t edges_ = 0;
  ColumnReader* reader_ = nullptr;  ///< null: all words are in memory
  std::vector<NodeMemory> memory_;
};

}  // namespace edgewire::detail

#pragma GCC visibility pop
