#include "disk/block_ring.h"

#include "base/mapped_file.h"
#include "disk/queue.h"

namespace edgewire::disk {

BlockRing::BlockRing(std::size_t capacity, Queue& queue) : capacity_(padded(capacity)), queue_(queue) {}

std::byte* BlockRing::take(std::size_t bytes) {
  if (memory_.bytes() == 0) {
    // Readers of codes look a little behind the end of a block.
    memory_ = topology::NodeMemory(capacity_ + kAlignment, -1, "blocks that are read");
    queue_.register_memory(memory_.as<std::byte>().first(capacity_));
  }
  std::size_t begin = 0;
  if (!blocks_.empty()) {
    const std::size_t oldest = blocks_.front().begin, end = blocks_.back().end;
    const bool wrapped = blocks_.back().begin < oldest;
    if (bytes <= (wrapped ? oldest : capacity_) - end)
      begin = end;
    else if (wrapped || bytes > oldest)
      return nullptr;
  }
  blocks_.push_back({begin, begin + bytes});
  return memory_.as<std::byte>().data() + begin;
}

}  // namespace edgewire::disk
