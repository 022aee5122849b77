#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file_calls.h"
#include "disk/queue.h"
#include "disk/segment_file.h"

namespace edgewire::disk {

/// Reads of one size, some of them under way at a time.
struct ReadPattern {
  std::size_t block_bytes = std::size_t{1} << 20;  ///< bytes of a block: a multiple of kAlignment
  int depth = 1;
  /// Whether places are random; false: from the front of the files to their end, again and again.
  bool random = true;
};

/// The rate that reads of a pattern reached.
struct ReadRate {
  ReadPattern pattern;
  std::uint64_t reads = 0;
  double seconds = 0;
  double median_s = 0, p99_s = 0;  ///< time of a read, from its start until this process sees its end
  double cores = 0;                ///< cores that the whole process used

  std::uint64_t bytes() const noexcept { return reads * pattern.block_bytes; }
  double bytes_per_s() const noexcept { return static_cast<double>(bytes()) / seconds; }
};

/// Measures how fast disks read, as fio does with ioengine=io_uring and direct=1. It reads a file without a
/// name in each of the folders, whose bytes are random, so that no layer below can compress or share them.
/// Blocks go to the files in turn. One thread uses it.
class ReadProbe {
 public:
  /// Writes the files. `bytes`: the size of each, rounded up to MiB. Throws Error that names the folder.
  ReadProbe(const std::vector<std::string>& folders, std::uint64_t bytes);

  /// Measures these files instead, from their start to the end of the shortest one, whatever has become of
  /// their names. Throws Error with the path.
  explicit ReadProbe(const SegmentFiles& files);

  /// Returns whether reads pass by the page cache in all folders.
  bool direct() const noexcept { return direct_; }
  /// Returns whether reads go through io_uring; otherwise each ends before the next begins.
  bool asynchronous() const noexcept { return queue_.asynchronous(); }
  std::uint64_t bytes() const noexcept { return bytes_; }  ///< returns the size of each file
  /// Reads for `seconds`. A block is no larger than the files. Throws Error that names folder and byte.
  ReadRate measure(const ReadPattern& pattern, double seconds);
  /// Writes the files once more, with other bytes, 1 MiB at a time and four under way: bytes a second until
  /// the disks have them. It is not for segments. Throws Error that names the folder.
  double write_again();

 private:
  void fill(const std::string& folder);

  std::vector<std::string> folders_;
  std::uint64_t bytes_;
  bool direct_ = true;
  Queue queue_;
  std::vector<OpenFile> files_;
};

/// Returns, of the rates that reach `share` of the highest, the one with the fewest bytes under way; of
/// these, the one with the largest block. `rates` is not empty.
const ReadRate& cheapest(std::span<const ReadRate> rates, double share);

/// The bytes that each worker reads ahead: at least, and where memory is ample.
inline constexpr std::uint64_t kLeastReadAhead = std::uint64_t{1} << 20, kReadAhead = 16 * kLeastReadAhead;

/// The figures of what one process read from disks in a run.
struct ReadFigures {
  std::uint64_t stored_bytes = 0;  ///< bytes that an iteration over all edges reads
  std::uint64_t bytes_read = 0;
  /// Bytes that this process wrote before the run; 0: an earlier one wrote them.
  std::uint64_t bytes_written = 0;
  double seconds = 0;       ///< time of all iterations or supersteps
  double seconds_busy = 0;  ///< time in which the busiest device had requests, of any process; 0: unknown
  double limit_bytes_per_s = 0;   ///< rate of this process when all processes only read; 0: unknown
  std::uint64_t block_bytes = 0;  ///< size of the reads that reached the limit
  std::uint64_t depth = 0;        ///< number of reads under way

  /// Measures the limit, from these files, with `bytes_under_way`, at least 16 MiB and at most 64 MiB, in
  /// blocks of three sizes: the best one counts. Where others read the same devices, all do so at the same
  /// time. The limit is 0 where the files cannot be read any more.
  void measure_limit(const SegmentFiles& files, std::uint64_t bytes_under_way);
};

}  // namespace edgewire::disk
