#include "graph/block_pool.h"

#include <new>

#include <sys/mman.h>

namespace edgewire::graph {

namespace {

constexpr std::size_t kRegion = std::size_t{16} << 20;  // its pages count from their first use on

}  // namespace

BlockPool::~BlockPool() {
  for (const auto& [begin, bytes] : regions_) munmap(begin, bytes);
}

void* BlockPool::take() {
  const std::lock_guard lock(mutex_);
  if (free_ != nullptr) return std::exchange(free_, free_->next);
  if (next_ == end_) {
    regions_.reserve(regions_.size() + 1);
    void* const region = mmap(nullptr, kRegion, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED) throw std::bad_alloc();
    regions_.emplace_back(region, kRegion);
    next_ = static_cast<std::byte*>(region);
    end_ = next_ + kRegion;
  }
  return std::exchange(next_, next_ + kBytes);
}

void BlockPool::give_back(void* block) noexcept {
  const std::lock_guard lock(mutex_);
  free_ = new (block) Free{free_};
}

}  // namespace edgewire::graph
