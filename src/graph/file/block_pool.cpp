#include "graph/file/builder.h"

#include <new>

#include <sys/mman.h>

namespace edgewire::graph {

namespace {

// Bytes of a region; its pages count from their batch on.
constexpr std::size_t kRegion = std::size_t{16} << 20;
// Bytes of a batch, which stays in the L2 cache until it is used.
constexpr std::size_t kBatch = std::size_t{256} << 10;
static_assert(kRegion % kBatch == 0 && kBatch % BlockPool::kBytes == 0);

}  // namespace

BlockPool::~BlockPool() {
  for (const auto& [begin, bytes] : regions_) munmap(begin, bytes);
}

void* BlockPool::take() {
  std::unique_lock lock(mutex_);
  if (free_ == nullptr) add_batch(lock);
  return std::exchange(free_, free_->next);
}

/// Makes the blocks of the next batch free. Other threads go on meanwhile.
void BlockPool::add_batch(std::unique_lock<std::mutex>& lock) {
  if (next_ == end_) {
    regions_.reserve(regions_.size() + 1);
    void* const region = mmap(nullptr, kRegion, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED) throw std::bad_alloc();
    regions_.emplace_back(region, kRegion);
    next_ = static_cast<std::byte*>(region);
    end_ = next_ + kRegion;
  }
  std::byte* const batch = std::exchange(next_, next_ + kBatch);
  lock.unlock();
  // One call for all pages takes half as long as a fault for each. Where it fails, pages come by faults.
  madvise(batch, kBatch, MADV_POPULATE_WRITE);
  lock.lock();
  for (std::byte* block = batch + kBatch; block != batch;) {
    block -= kBytes;
    free_ = new (block) Free{free_};
  }
}

void BlockPool::give_back(void* block) noexcept {
  const std::lock_guard lock(mutex_);
  free_ = new (block) Free{free_};
}

}  // namespace edgewire::graph
