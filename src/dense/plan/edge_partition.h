// Partitions of the edges instead of the vertices: each process holds a block of the edge matrix, a stretch
// of the Hilbert curve or a rectangle. Who holds an edge is a function of its two ids.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "dense/plan/count.h"
#include "dense/plan/volume.h"
#include "partition/ownership.h"

namespace edgewire::plan {

/// Returns the position of cell (x, y) on the Hilbert curve through the 2^bits x 2^bits cells (Hilbert, 1891;
/// the bitwise form is the one of Lam and Shapiro, 1994).
std::uint64_t hilbert_position(std::uint32_t x, std::uint32_t y, unsigned bits) noexcept;

/// Cells of the edge matrix, about a thousand for each process: each range of cut_evenly() is cut into the
/// same number of strips, in the same way. Strips are rows of cells as sources, and columns as destinations.
class Cells {
 public:
  Cells(std::span<const std::uint64_t> offsets, int processes);
  std::uint32_t side() const noexcept { return side_; }
  /// Returns the owner of the vertices of the strip.
  std::uint32_t owner(std::uint32_t strip) const noexcept { return strip / strips_each_; }
  const partition::RangeOwnership& strips() const noexcept { return strips_; }
  /// Returns the vertices of a process, a range of ids.
  std::pair<std::uint64_t, std::uint64_t> sources_of(std::uint32_t owner) const noexcept;
  /// Returns the number of edges of the sources [first, last) in each cell, [row * side + column], without
  /// edges between two vertices of one owner. It counts in `pieces` pieces, each of which takes 8 bytes a
  /// cell. It calls verify(begin, end) before it reads these rows.
  std::vector<std::uint64_t> count(
      const Rows& rows, std::uint64_t first, std::uint64_t last, int pieces, const ForEach& for_each,
      const std::function<void(std::uint64_t begin, std::uint64_t end)>& verify) const;
  /// Returns all cells by position on the Hilbert curve through the smallest square of 2^k x 2^k cells that
  /// has them.
  std::vector<std::uint32_t> along_curve() const;

 private:
  std::uint32_t strips_each_, side_;
  partition::RangeOwnership strips_;
};

/// The holder of each edge, and the owner of each vertex: process p owns the p-th of the ranges that
/// cut_evenly() makes. It takes about 2 KB a process, or 2 bytes for each pair of them, and 512 KB for all.
class EdgePartition {
 public:
  /// Makes a grid. The processes stand in R rows and C columns, R x C = processes, as square as that allows:
  /// process p is in row p / C and column p % C. An edge is held in the row of its source's owner and in the
  /// column of its destination's owner. So a vertex's edges are in one row and one column, and its owner is
  /// in both. Each row of processes holds a band of sources (Yoo et al.: A scalable distributed parallel
  /// breadth-first search algorithm on BlueGene/L, SC 2005; Boman, Devine and Rajamanickam: Scalable matrix
  /// computations on large scale-free graphs using 2D graph partitioning, SC 2013).
  static EdgePartition grid(std::span<const std::uint64_t> offsets, int processes);
  /// Makes stretches of the Hilbert curve. An edge between two vertices of one owner is held there. Each
  /// process holds, of all other edges, a stretch of the Hilbert curve through the cells, all with about the
  /// same number of edges. The stretches go to the processes that own most of the ends of their edges.
  /// `edges` are the counts of each cell, over all sources, as Cells::count().
  static EdgePartition hilbert(std::span<const std::uint64_t> offsets, int processes, const Cells& cells,
                               std::span<const std::uint64_t> edges);

  int processes() const noexcept { return owners_.processes(); }
  /// Returns the ownership of vertices.
  const partition::Ownership& owners() const noexcept { return owners_; }
  /// Returns the holders of the edges from `source`, by strip(destination).
  const std::uint16_t* row(VertexId source) const noexcept {
    return holders_.data() + std::size_t{strip(source)} * side_;
  }
  /// Returns the strip that the vertex is in.
  std::uint32_t strip(VertexId vertex) const noexcept { return strips_.owner(vertex); }
  /// Returns the sources from which the processes [first, last) hold edges: ranges of ids, ascending.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> sources_of(std::uint32_t first,
                                                                  std::uint32_t last) const;

 private:
  EdgePartition(partition::Ownership owners, partition::RangeOwnership strips, std::uint32_t side)
      : owners_(std::move(owners)),
        strips_(std::move(strips)),
        side_(side),
        holders_(std::size_t{side} * side) {}
  partition::Ownership owners_;
  partition::RangeOwnership strips_;
  std::uint32_t side_;                  ///< number of strips
  std::vector<std::uint16_t> holders_;  ///< holders, [strip of the source * side + strip of the destination]
};

/// The mirrors and partial sums between processes.
struct BlockTraffic {
  Traffic values;
  std::vector<std::uint64_t> computed_edges;  ///< edges by process
  std::uint64_t memory_bytes = 0;
  std::uint32_t passes = 0;  ///< number of passes over the graph
};

/// Returns the partition with this name, `hilbert` or `grid`. It reads all rows for `hilbert`; these must be
/// verified.
EdgePartition partition_edges(std::string_view how, const Rows& rows, int processes, int threads);

/// Returns the memory that count_blocks() needs at least: 40 bytes for each edge of a block.
std::uint64_t block_bytes(const Rows& rows, int processes) noexcept;
/// Counts the values for `strategy`, slots or cover. Takes as many blocks at a time as fit into the memory,
/// with a pass over the rows for each time. The values take 8 bytes each beside that, with `cover` 16. Throws
/// Error when no block fits.
BlockTraffic count_blocks(const Rows& rows, const EdgePartition& partition, Strategy strategy,
                          const CountOptions& options);

}  // namespace edgewire::plan
