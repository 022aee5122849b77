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

#include <cstdint>
#include <span>

#include "base/rooms.h"
#include "dense/plan/edge_rows.h"
#include "edgewire/detail/bins.h"
#include "edgewire/detail/tile.h"
#include "topology/worker_pool.h"

namespace edgewire::tiles {

/// The least number of columns of a worker, if their width allows. Workers then finish at about the same
/// time.
inline constexpr std::uint64_t kColumnsPerWorker = 8;

/// Limits of the size of tiles. With them, the values that a sweep reads and the accumulators that it adds to
/// stay in the caches of a core.
struct TileSizes {
  std::uint32_t column_width = kColumnWidth;
  std::uint32_t strip_width = kStripWidth;  ///< width of a strip, which divides kStripWidth
  /// Number of sources whose values fit in the L1 cache; such tiles may get large.
  std::uint32_t narrow_sources = 1U << 13;

  /// Returns sizes for these caches and messages (all in bytes): the source values of a strip take a quarter
  /// of the L2 cache, the accumulators of a column take half of it.
  static TileSizes for_caches(std::uint64_t l1_bytes, std::uint64_t l2_bytes,
                              std::uint64_t message_bytes = sizeof(float)) noexcept;
};

/// A receiver of tiles as they are built, so that they need not all be in memory.
class TileSink {
 public:
  virtual ~TileSink() = default;
  /// Takes the tiles that were built since the last call, by column; they are gone when this returns. An
  /// exception is passed on.
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
/// Builds the same tiles for a sink, which takes them before they have more than `budget` bytes together with
/// the edges that are dealt to columns at a time, and at the end. The edges dealt at a time, and the tiles
/// made of them, take at most 0.35 bytes an edge and 28 bytes a source, but at least 22 MB.
void build_tiles(topology::WorkerPool& pool, const plan::EdgeReader& reader,
                 std::span<const std::uint32_t> column_bounds, const TileSizes& sizes, TileSink& sink,
                 std::uint64_t budget);

/// Copies the words of each column to memory of nodes[column] (os_index); the tiles have no reader.
void move_to_nodes(Tiles& tiles, topology::WorkerPool& pool, std::span<const int> nodes);

/// Returns how many edges are in thin cells. It builds nothing. `tiles` are in memory, and `sources` are
/// those that they read.
std::uint64_t count_thin_edges(topology::WorkerPool& pool, const Tiles& tiles, std::uint32_t sources);

/// Makes bins for the thin cells. `tiles` are in memory, and their edges have no weights. The bins take 4
/// bytes an edge.
Bins make_bins(topology::WorkerPool& pool, const Tiles& tiles, std::uint32_t sources);

}  // namespace edgewire::tiles
