// Memory in blocks of one size that goes from hand to hand: what one step of a build frees, the next one
// takes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace edgewire::graph {

/// Hands out blocks. Nothing goes back to the system before the pool goes. Thread safe. It does not ask for
/// large pages: on a busy machine they took the system longer than small ones (measured on Zen 4).
class BlockPool {
 public:
  static constexpr std::size_t kBytes = 16 << 10;

  BlockPool() = default;
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Not filled with anything. Throws std::bad_alloc.
  void* take();
  void give_back(void* block) noexcept;

 private:
  struct Free {
    Free* next;
  };
  void add_batch(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  Free* free_ = nullptr;
  std::vector<std::pair<void*, std::size_t>> regions_;  // as they were mapped
  std::byte* next_ = nullptr;                           // the rest of the last one
  std::byte* end_ = nullptr;
};

/// Numbers one behind the other in blocks of a pool, which must outlive them.
template <class Number>
class PooledNumbers {
 public:
  static constexpr std::size_t kInBlock = BlockPool::kBytes / sizeof(Number);

  PooledNumbers() = default;
  PooledNumbers(BlockPool& pool, std::span<const Number> numbers) : pool_(&pool) {
    blocks_.reserve((numbers.size() + kInBlock - 1) / kInBlock);
    for (; size_ < numbers.size(); size_ += std::min(kInBlock, numbers.size() - size_)) {
      blocks_.push_back(static_cast<Number*>(pool.take()));
      const auto some = numbers.subspan(size_, std::min(kInBlock, numbers.size() - size_));
      std::copy(some.begin(), some.end(), blocks_.back());
    }
  }
  PooledNumbers(PooledNumbers&& other) noexcept { swap(other); }
  PooledNumbers& operator=(PooledNumbers&& other) noexcept {
    PooledNumbers(std::move(other)).swap(*this);
    return *this;
  }
  ~PooledNumbers() {
    // The last one first, so that whoever takes them gets them in the order of their addresses.
    for (; !blocks_.empty(); blocks_.pop_back()) pool_->give_back(blocks_.back());
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  /// Those of one block, from number `first` on; none behind the last.
  std::span<const Number> from(std::size_t first) const noexcept {
    if (first >= size_) return {};
    const std::size_t in_block = first % kInBlock;
    return {blocks_[first / kInBlock] + in_block, std::min(kInBlock - in_block, size_ - first)};
  }

 private:
  void swap(PooledNumbers& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(size_, other.size_);
    blocks_.swap(other.blocks_);
  }

  BlockPool* pool_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Number*> blocks_;
};

}  // namespace edgewire::graph
