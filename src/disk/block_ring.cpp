#include "disk/block_ring.h"

#include <cstdlib>
#include <new>

#include "disk/queue.h"

namespace edgewire::disk {

void BlockRing::Free::operator()(std::byte* memory) const noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): so it was taken
}

BlockRing::BlockRing(std::size_t capacity, Queue& queue)
    : capacity_((capacity + kAlignment - 1) / kAlignment * kAlignment), queue_(queue) {}

std::byte* BlockRing::take(std::size_t bytes) {
  if (!memory_) {
    // Readers of codes look a little behind the end of a block.
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, capacity_ + kAlignment)));
    if (!memory_) throw std::bad_alloc();
    queue_.register_memory({memory_.get(), capacity_});
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
  return memory_.get() + begin;
}

}  // namespace edgewire::disk
