// The dense/tiles folder turns the edges that a process holds into tiles and sweeps them, iteration by
// iteration, at the speed of the caches. It has the format of tiles, the builder, the sweep, and the code of
// tiles for disks. It knows nothing of other processes, sockets or files.
//
// Sources are numbered 0..sources-1, destinations 0..destinations-1: first the vertices of the process, then
// the partial sums for its peers. The caller cuts the destinations into columns. A worker computes one column
// at a time. A strip is a range of sources. Inside a column the tiles are ordered by strip, so that the
// source values of a tile and the accumulators of a column fit in the L2 cache together (TileSizes).
//
// Inside a tile the edges are grouped into bundles. A bundle has a key and up to kBundle others, all as
// 16-bit offsets. In a tile that pulls, the key is a destination and the others are its sources: the
// accumulator is updated once for each bundle. In a tile that pushes, the key is a source and the others are
// its destinations: the source value is loaded once. Bundles of the same size are stored together, so the
// loops over them have no branch that depends on the graph. The tile builder takes the cheaper direction for
// each tile. If edges have weights, these are stored behind the bundles, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dense/plan/edge_rows.h"
#include "topology/memory.h"
#include "topology/worker_pool.h"

namespace edgewire::tiles {

inline constexpr std::uint32_t kColumnWidth = 65536;  ///< most destinations of a column: 16 bits address them
inline constexpr std::uint32_t kStripWidth = 65536;   ///< sources of a strip at most
inline constexpr std::uint32_t kBundle = 16;          ///< others of a bundle at most

/// A worker gets at least so many columns, if their width allows. Workers then finish at about the same time.
inline constexpr std::uint64_t kColumnsPerWorker = 8;

/// Limits of the size of tiles. With them, the values that a sweep reads and the accumulators that it adds to
/// stay in the caches of a core.
struct TileSizes {
  std::uint32_t column_width = kColumnWidth;
  std::uint32_t strip_width = kStripWidth;  ///< divides kStripWidth
  std::uint32_t narrow_sources = 1U << 13;  ///< whose values fit in the L1 cache; such tiles may get large

  /// Sizes for these caches and messages (all in bytes): the source values of a strip take a quarter of the
  /// L2 cache, the accumulators of a column take half of it.
  static TileSizes for_caches(std::uint64_t l1_bytes, std::uint64_t l2_bytes,
                              std::uint64_t message_bytes = sizeof(float)) noexcept;
};

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

/// The edges of a process as tiles, column by column. Immutable once built; read by all workers. Movable.
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
  /// The data of the column's tiles, which is what one sweep reads. Each part holds whole tiles. The layout
  /// is in tile_format.h. No parts where there is a reader.
  std::span<const std::span<const std::uint16_t>> column_data(std::size_t column) const noexcept {
    return columns_[column].parts;
  }
  /// Does the same as ColumnReader::part(). A tile has such a reader where its words are not in memory.
  std::span<const std::uint16_t> part(int worker, std::size_t column, std::size_t number) const noexcept {
    if (reader_ != nullptr) return reader_->part(worker, column, number);
    const auto& parts = columns_[column].parts;
    return number < parts.size() ? parts[number] : std::span<const std::uint16_t>();
  }
  /// Copies the words of each column to memory of nodes[column] (os_index); there is no reader.
  void move_to(topology::WorkerPool& pool, std::span<const int> nodes);
  /// Returns how many bytes one sweep over a column, or over all columns, reads.
  std::uint64_t bytes(std::size_t column) const noexcept;
  std::uint64_t bytes() const noexcept;

 private:
  template <class Pair>
  friend class TileBuilder;
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
  std::vector<topology::NodeMemory> memory_;
};

/// Takes tiles as they are built, so that they need not all be in memory.
class TileSink {
 public:
  virtual ~TileSink() = default;
  /// `tiles`: those that were built since the last call, by column; they are gone when this returns. What it
  /// throws is passed on.
  virtual void take(const Tiles& tiles) = 0;
};

/// Builds the tiles of all edges of `reader`. Column c is [column_bounds[c], column_bounds[c + 1]); it is not
/// empty and at most kColumnWidth wide; column_bounds starts with 0. `column_nodes` is empty, or says for
/// each column from which node (os_index) its memory should come. The tiles do not depend on the number of
/// workers. Tiles take about 2.4 bytes an edge. Building them takes another 0.25 bytes an edge and some MB a
/// worker. Throws Error when there is no memory, and passes on what `reader` throws.
Tiles build_tiles(topology::WorkerPool& pool, const plan::EdgeReader& reader,
                  std::span<const std::uint32_t> column_bounds, std::span<const int> column_nodes = {},
                  const TileSizes& sizes = {});
/// The same tiles for a sink, which takes them before they have more than `budget` bytes together with the
/// edges that are dealt to columns at a time, and at the end. The edges dealt at a time, and the tiles made
/// of them, take 0.35 bytes an edge at most, and 28 bytes a source, but 22 MB at least.
void build_tiles(topology::WorkerPool& pool, const plan::EdgeReader& reader,
                 std::span<const std::uint32_t> column_bounds, const TileSizes& sizes, TileSink& sink,
                 std::uint64_t budget);

}  // namespace edgewire::tiles
