#pragma once

#include <cstddef>
#include <deque>

#include "base/rooms.h"
#include "edgewire/detail/memory.h"

namespace edgewire::disk {

class Queue;

/// Aligned memory for reads. Blocks are given back in the order in which they were taken. For one thread.
class BlockRing {
 public:
  /// Makes a ring. `capacity`: the bytes, rounded up to a multiple of kAlignment. `queue`: reads into the
  /// blocks; outlives this.
  BlockRing(std::size_t capacity, Queue& queue);

  /// Returns a block, in one piece, or null while there is no room. `bytes`: a multiple of kAlignment, at
  /// most the capacity. The first call takes the memory from the system, so that it is near the thread, and
  /// registers it with the queue. Throws Error.
  std::byte* take(std::size_t bytes);
  /// Gives the oldest block back.
  void give_back() noexcept { blocks_.pop_front(); }

 private:
  struct Block {
    std::size_t begin, end;
  };
  std::size_t capacity_;
  Queue& queue_;
  topology::NodeMemory memory_;
  std::deque<Block> blocks_;  ///< oldest first
};

}  // namespace edgewire::disk
