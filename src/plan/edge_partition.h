// Partitions of the edges instead of the vertices: each process holds blocks of the edge matrix, along the
// Hilbert curve or on a grid.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/count.h"
#include "plan/volume.h"

namespace edgewire::plan {

/// Divides the edge matrix into square cells, at most 1024 x 1024, and counts the edges of each.
class Cells {
 public:
  static constexpr unsigned kMostSideBits = 10;
  /// Counts in one pass. Memory: 8 MB for each thread.
  Cells(const Rows& rows, int threads);
  std::uint32_t side() const noexcept { return std::uint32_t{1} << side_bits_; }
  unsigned side_bits() const noexcept { return side_bits_; }
  unsigned shift() const noexcept { return shift_; }  ///< vertex >> shift() is its row or column of cells
  std::uint64_t edges(std::uint32_t row, std::uint32_t column) const noexcept {
    return counts_[row * side() + column];
  }

 private:
  unsigned side_bits_ = 0;
  unsigned shift_ = 0;
  std::vector<std::uint64_t> counts_;
};

/// Says which process holds, and so computes, each edge. All edges of a cell are in one process.
class EdgePartition {
 public:
  /// Each process holds a contiguous part of the Hilbert curve over the cells, with about the same number of
  /// edges.
  static EdgePartition hilbert(const Cells& cells, int processes);
  /// R bands of sources x C bands of destinations, R x C = processes, as square as that allows. Bands have
  /// about the same number of edges each.
  static EdgePartition grid(const Cells& cells, int processes);

  int processes() const noexcept { return processes_; }
  unsigned shift() const noexcept { return shift_; }
  /// [column of cells]: the process that holds that cell, in the row of cells of `source`.
  const std::uint16_t* row(std::uint32_t source) const noexcept {
    return holders_.data() + (static_cast<std::size_t>(source >> shift_) << side_bits_);
  }

 private:
  EdgePartition(const Cells& cells, int processes)
      : processes_(processes),
        side_bits_(cells.side_bits()),
        shift_(cells.shift()),
        holders_(std::size_t{1} << 2 * side_bits_) {}
  int processes_;
  unsigned side_bits_;
  unsigned shift_;
  std::vector<std::uint16_t> holders_;
};

/// Position of cell (x, y) on the Hilbert curve through the 2^bits x 2^bits cells (Hilbert, 1891; the bitwise
/// form is the one of Lam and Shapiro, 1994).
std::uint64_t hilbert_position(std::uint32_t x, std::uint32_t y, unsigned bits) noexcept;

/// Values between processes that hold edges. The owner of a vertex sends its mirror to every other process
/// with edges that leave it, and gets a partial sum from every other one with edges that reach it.
struct PartitionedTraffic {
  Traffic values;
  std::vector<std::uint64_t> computed_edges;  ///< by process
  std::uint64_t memory_bytes = 0;
  std::uint32_t passes = 0;
};

/// Counts with the owners that visit_holders() chooses (plan/edge_holders.h), and needs as much memory.
PartitionedTraffic count_partitioned(const Rows& rows, const EdgePartition& partition,
                                     const CountOptions& options);

}  // namespace edgewire::plan
