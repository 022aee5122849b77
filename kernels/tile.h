// The kernels folder computes: it turns the edges that a process holds into tiles and sweeps them, iteration
// by iteration, at the speed of the caches. It knows nothing of sockets, queue pairs or files.
//
// Sources are numbered 0..sources-1, destinations 0..destinations-1 (the vertices of the process and then the
// places of what goes to its peers). The caller cuts the destinations into columns; a worker computes a
// column at a time. Inside a column, tiles follow each other strip by strip, a strip being a range of
// sources, so that the source values of a tile and the sums of a column lie in the L2 cache together
// (TileSizes).
//
// Inside a tile the edges are grouped into bundles: a key and up to kBundle others, all 16-bit offsets. In a
// tile that pulls, the key is a destination and the others are its sources: the bundle costs one update of
// the sum. In a tile that pushes it is the other way round: the source value is loaded once. Bundles of the
// same size follow each other, so that the loops over them have no branch that depends on the graph. The tile
// builder takes the cheaper direction for each tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/worker_pool.h"
#include "topology/memory.h"

namespace edgewire::kernels {

inline constexpr std::uint32_t kColumnWidth =
    65536;  ///< destinations of a column at most, what 16 bits can tell apart
inline constexpr std::uint32_t kStripWidth = 65536;  ///< sources of a strip at most
inline constexpr std::uint32_t kRowBlock = 64;       ///< sources that an EdgeReader reads at a time
inline constexpr std::uint32_t kBundle = 16;         ///< others of a bundle at most

/// Columns have at most this part of a worker's edges where a column's width allows, so that workers end
/// together.
inline constexpr std::uint64_t kColumnsPerWorker = 8;

/// How large tiles get, so that what a sweep of one reads and adds to stays in the caches of a core.
struct TileSizes {
  std::uint32_t column_width = kColumnWidth;
  std::uint32_t strip_width = kStripWidth;  ///< divides kStripWidth
  std::uint32_t narrow_sources = 1U << 13;  ///< their values fit in the L1 cache: tiles of so few grow freely

  /// For caches of such sizes, in bytes: the source values of a strip take a quarter of the L2 cache, the
  /// sums of a column half of it.
  static TileSizes for_caches(std::uint64_t l1_bytes, std::uint64_t l2_bytes) noexcept;
};

/// The edges of a process, destinations as addresses: see plan::ColumnAddresses.
class EdgeReader {
 public:
  virtual ~EdgeReader() = default;
  virtual std::uint32_t sources() const = 0;
  /// The number of edges of sources [first, last), or an upper bound; first is a multiple of kRowBlock, last
  /// too or sources().
  virtual std::uint64_t edges(std::uint32_t first, std::uint32_t last) const = 0;
  /// Sets `destinations` to the addresses of those of sources [first, last), in source order, and `ends`, for
  /// each of these sources, to the number of destinations up to and including it. first is a multiple of
  /// kRowBlock and last
  /// - first <= kRowBlock. Called once for each source, from several workers at once.
  virtual void read(int worker, std::uint32_t first, std::uint32_t last,
                    std::vector<std::uint32_t>& destinations, std::vector<std::uint32_t>& ends) const = 0;
};

/// The edges of a process as tiles, column by column. Immutable once built; read by all workers. Movable.
class Tiles {
 public:
  /// How much a column holds.
  struct Size {
    std::uint64_t edges = 0;
    std::uint64_t words = 0;
  };

  Tiles() = default;
  /// Tiles that were built before: `words` is column_data() of one column after the other. Columns as for
  /// build_tiles, sizes[c] says how much of it each one takes. `memory` is what holds the words; else they
  /// outlive the tiles.
  Tiles(std::span<const std::uint32_t> column_bounds, std::span<const Size> sizes,
        std::span<const std::uint16_t> words, topology::NodeMemory memory = {});

  std::size_t columns() const noexcept { return columns_.size(); }
  std::uint32_t column_begin(std::size_t column) const noexcept { return columns_[column].begin; }
  std::uint32_t column_width(std::size_t column) const noexcept { return columns_[column].width; }
  std::uint64_t edges(std::size_t column) const noexcept { return columns_[column].edges; }
  std::uint64_t edges() const noexcept { return edges_; }
  /// What the tiles of the column hold, and what one sweep reads of it: parts of whole tiles; the layout is
  /// in tile_format.h.
  std::span<const std::span<const std::uint16_t>> column_data(std::size_t column) const noexcept {
    return columns_[column].parts;
  }
  /// Bytes that one sweep over all columns reads.
  std::uint64_t bytes() const noexcept;

 private:
  friend class TileBuilder;
  struct Column {
    std::uint32_t begin = 0;
    std::uint32_t width = 0;
    std::uint64_t edges = 0;
    std::vector<std::span<const std::uint16_t>> parts;
  };
  std::vector<Column> columns_;
  std::uint64_t edges_ = 0;
  std::vector<topology::NodeMemory> memory_;
};

/// Builds the tiles of all edges of `reader`. Column c is [column_bounds[c], column_bounds[c + 1]), not empty
/// and at most kColumnWidth wide; column_bounds starts with 0. `column_nodes` is empty or says for each
/// column from which node (os_index) its memory should come. The tiles are the same, byte for byte, whatever
/// the number of workers. Beside the tiles, about 2.4 bytes an edge, needs a quarter of a byte an edge and
/// some MB a worker. Throws Error when there is no memory; what `reader` throws passes through.
Tiles build_tiles(engine::WorkerPool& pool, const EdgeReader& reader,
                  std::span<const std::uint32_t> column_bounds, std::span<const int> column_nodes = {},
                  const TileSizes& sizes = {});

/// sums[d - column_begin(column)] = sum of x[s] over the column's edges (s, d), in double; sums has
/// column_width(column) elements and is zeroed here. x has a value for each source. Different workers may
/// compute different columns at once.
void compute_column(const Tiles& tiles, std::size_t column, const float* x, double* sums) noexcept;

/// As compute_column, but adds to what sums hold.
void add_column(const Tiles& tiles, std::size_t column, const float* x, double* sums) noexcept;

}  // namespace edgewire::kernels
