// Sets of small numbers.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace edgewire::plan {

/// One bit for each number, so that much of the set stays in the caches. Several threads may call set() at
/// the same time; meanwhile nothing else may be called.
class Bits {
 public:
  explicit Bits(std::uint64_t size) : words_((size + 63) / 64) {}
  Bits(std::uint64_t size, std::span<const std::uint32_t> members) : Bits(size) {
    for (const auto member : members) add(member);
  }
  /// Whether this call was the one that set the bit.
  bool set(std::uint64_t bit) noexcept {
    const std::atomic_ref word(words_[bit >> 6]);
    const std::uint64_t mask = std::uint64_t{1} << (bit & 63);
    // Relaxed: bits are independent, and are read after the threads have ended.
    if ((word.load(std::memory_order_relaxed) & mask) != 0) return false;
    return (word.fetch_or(mask, std::memory_order_relaxed) & mask) == 0;
  }
  /// As set(), for one thread alone.
  void add(std::uint64_t bit) noexcept { words_[bit >> 6] |= std::uint64_t{1} << (bit & 63); }
  bool test(std::uint64_t bit) const noexcept { return (words_[bit >> 6] >> (bit & 63) & 1) != 0; }
  std::uint64_t word(std::uint64_t index) const noexcept { return words_[index]; }
  std::uint64_t words() const noexcept { return words_.size(); }
  /// All numbers that are set, ascending; fewer than 2^32.
  std::vector<std::uint32_t> members() const {
    std::vector<std::uint32_t> all;
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t left = words_[w]; left != 0; left &= left - 1)
        all.push_back(static_cast<std::uint32_t>(w * 64 + static_cast<unsigned>(std::countr_zero(left))));
    return all;
  }
  /// copy_others() may write so many numbers, of any value, after its result.
  static constexpr std::size_t kSlack = 16;
  /// Copies the numbers that are not set, in their order, and returns the end of the copies. `out` has room
  /// for all numbers and kSlack more.
  std::uint32_t* copy_others(std::span<const std::uint32_t> numbers, std::uint32_t* out) const noexcept;
  std::uint64_t bytes() const noexcept { return words_.size() * sizeof(std::uint64_t); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace edgewire::plan
