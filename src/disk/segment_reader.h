#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

#include "disk/queue.h"
#include "disk/segment_file.h"

namespace edgewire::disk {

/// Reads segments in an order that begins again behind its end. While one is used, as many of the next ones
/// are read as fit in memory, so the devices have work. One thread at a time uses it.
class SegmentReader {
 public:
  /// A segment that next() has read.
  struct Item {
    std::size_t number;  ///< place in the order
    std::span<const std::byte> bytes;
  };

  /// Makes a reader. `files` outlives it. `order` has segments of one byte at least. `memory_bytes`: the
  /// memory that reads may take; more when two segments need more.
  SegmentReader(const SegmentFiles& files, std::vector<Segment> order, std::size_t memory_bytes);

  /// Returns the next segment, which is there until the next call. Its checksum is right. The first call
  /// starts to read. Throws Error with path and byte offset.
  Item next();
  /// Does the same as Queue::watch().
  void watch(topology::Observer* observer, int worker) noexcept { queue_.watch(observer, worker); }

 private:
  struct Read {
    explicit Read(Queue& queue) : transfer(queue) {}
    std::byte* memory = nullptr;
    std::size_t number = 0;
    Transfer transfer;
  };
  void fill();

  const SegmentFiles& files_;
  std::vector<Segment> order_;
  std::size_t next_ = 0;  ///< place in the order of the next segment to read
  Queue queue_;
  BlockRing memory_;
  std::deque<Read> reads_;  ///< reads, oldest first; the first one is in use if `in_use_`
  bool in_use_ = false;
};

}  // namespace edgewire::disk
