#include "graph/block_pool.h"

#include <new>

#include <sys/mman.h>

namespace edgewire::graph {

namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;
constexpr std::size_t kRegion = 8 * kLargePage;

}  // namespace

BlockPool::~BlockPool() {
  for (const auto& [begin, bytes] : regions_) munmap(begin, bytes);
}

void* BlockPool::take() {
  const std::lock_guard lock(mutex_);
  if (free_ != nullptr) return std::exchange(free_, free_->next);
  if (next_ == end_) {
    regions_.reserve(regions_.size() + 1);
    // One large page more, so that the blocks can begin at one.
    const std::size_t bytes = kRegion + kLargePage;
    void* const region = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED) throw std::bad_alloc();
    regions_.emplace_back(region, bytes);
    const auto skip = -reinterpret_cast<std::uintptr_t>(region) % kLargePage;
    next_ = static_cast<std::byte*>(region) + skip;
    end_ = next_ + kRegion;
    madvise(next_, kRegion, MADV_HUGEPAGE);  // a kernel without large pages refuses, and all is as well
  }
  return std::exchange(next_, next_ + kBytes);
}

void BlockPool::give_back(void* block) noexcept {
  const std::lock_guard lock(mutex_);
  free_ = new (block) Free{free_};
}

}  // namespace edgewire::graph
