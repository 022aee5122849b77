#pragma once

#include <cstddef>
#include <deque>
#include <memory>

namespace edgewire::disk {

class Queue;

/// Aligned memory for reads, whose blocks are given back in the order in which they were taken. Of one thread
/// at a time.
class BlockRing {
 public:
  /// `capacity`: in bytes, rounded up to a multiple of kAlignment. `queue`: reads into the blocks; outlives
  /// this.
  BlockRing(std::size_t capacity, Queue& queue);

  /// A block, in one piece; null while there is no room. `bytes`: a multiple of kAlignment, at most the
  /// capacity. The first call takes the memory from the system, so that it is near the thread, and registers
  /// it with the queue. Throws bad_alloc.
  std::byte* take(std::size_t bytes);
  /// The oldest block.
  void give_back() noexcept { blocks_.pop_front(); }

 private:
  struct Block {
    std::size_t begin, end;
  };
  struct Free {
    void operator()(std::byte* memory) const noexcept;
  };
  std::size_t capacity_;
  Queue& queue_;
  std::unique_ptr<std::byte, Free> memory_;
  std::deque<Block> blocks_;  ///< oldest first
};

}  // namespace edgewire::disk
