#pragma once

#include <cstddef>
#include <cstdint>

#include "disk/segment_file.h"

namespace edgewire::disk {

/// This is how much each worker reads ahead at least, and where memory is ample, in bytes.
inline constexpr std::uint64_t kLeastReadAhead = std::uint64_t{1} << 20, kReadAhead = 16 * kLeastReadAhead;

/// One process read this from disks in a run.
struct ReadFigures {
  std::uint64_t stored_bytes = 0;  ///< what an iteration over all edges reads
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_written = 0;  ///< before the run, by this process; 0: an earlier one wrote them
  double seconds = 0;               ///< time of all iterations or supersteps
  double seconds_busy = 0;          ///< time in which the busiest device had requests, whoever's; 0: unknown
  double limit_bytes_per_s = 0;     ///< what this process reads when all processes only read; 0: unknown
  std::uint64_t block_bytes = 0;    ///< size of the reads that reached the limit
  std::uint64_t depth = 0;          ///< how many were under way

  /// Measures the limit, from these files, with so many bytes under way, 16 MiB at least and 64 MiB at most,
  /// in blocks of three sizes: the best one counts.
  /// Where others read the same devices, all do so at the same time. The limit is 0 where the files cannot be
  /// read any more.
  void measure_limit(const SegmentFiles& files, std::uint64_t bytes_under_way);
};

}  // namespace edgewire::disk
