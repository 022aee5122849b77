// Processes that hold edges rather than vertices: blocks of the edge matrix, along the Hilbert curve or on a
// grid.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/count.h"
#include "plan/volume.h"

namespace edgewire::plan {

/// The edge matrix in square cells, at most 1024 x 1024, and the edges of each.
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

/// The process that computes each edge, by its cell.
class EdgePartition {
 public:
  /// Stretches of the Hilbert curve over the cells, with about the same number of edges each.
  static EdgePartition hilbert(const Cells& cells, int processes);
  /// R bands of sources x C bands of destinations, R x C = processes, as square as that allows. Bands have
  /// about the same number of edges each.
  static EdgePartition grid(const Cells& cells, int processes);

  int processes() const noexcept { return processes_; }
  unsigned shift() const noexcept { return shift_; }
  /// Holders of the cells in the row of cells of `source`, by column.
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

/// A vertex is owned by one of the processes that hold both edges that leave it and edges that reach it, or
/// else by one that holds any: that is the owner which makes the fewest values. Of those the one that owns
/// fewest so far. Memory: 2 bits for each vertex and process (rounded up to 64 processes); in several passes
/// when that is more than `memory_bytes`.
PartitionedTraffic count_partitioned(const Rows& rows, const EdgePartition& partition,
                                     const CountOptions& options);

}  // namespace edgewire::plan
