// A set of small numbers that several threads fill.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace edgewire::plan {

/// Reading words is for the time when no thread sets bits any more.
class Bits {
 public:
  explicit Bits(std::uint64_t size) : words_((size + 63) / 64) {}
  /// Whether this call was the one that set the bit.
  bool set(std::uint64_t bit) noexcept {
    const std::atomic_ref word(words_[bit >> 6]);
    const std::uint64_t mask = std::uint64_t{1} << (bit & 63);
    // Relaxed: bits are independent, and are read after the threads have ended.
    if ((word.load(std::memory_order_relaxed) & mask) != 0) return false;
    return (word.fetch_or(mask, std::memory_order_relaxed) & mask) == 0;
  }
  bool test(std::uint64_t bit) const noexcept { return (words_[bit >> 6] >> (bit & 63) & 1) != 0; }
  std::uint64_t word(std::uint64_t index) const noexcept { return words_[index]; }
  std::uint64_t bytes() const noexcept { return words_.size() * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace edgewire::plan
