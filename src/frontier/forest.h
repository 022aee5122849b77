// Union-find trees over the numbers 0 to n - 1, which several workers build together.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "topology/memory.h"

namespace edgewire::frontier {

/// Each tree hangs on its smallest number. Memory: 4 bytes for each number.
class Forest {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// separate() comes before all else.
  explicit Forest(std::uint32_t size)
      : memory_(size * sizeof(std::uint32_t), -1, "union-find trees", topology::Begin::staggered),
        above_(memory_.as<std::atomic<std::uint32_t>>()) {}

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(above_.size()); }
  /// Makes each of the numbers a tree of its own.
  void separate(std::uint32_t first, std::uint32_t last) noexcept {
    for (std::uint32_t n = first; n < last; ++n) set_above(n, n);
  }
  /// What the number hangs below, or itself.
  std::uint32_t above(std::uint32_t n) const noexcept { return above_[n].load(std::memory_order_relaxed); }
  /// For one thread alone.
  void set_above(std::uint32_t n, std::uint32_t above) noexcept {
    above_[n].store(above, std::memory_order_relaxed);
  }
  /// Into the cache. The number may be none of these.
  void fetch(std::uint32_t n) const noexcept { __builtin_prefetch(above_.data() + n); }

  std::uint32_t root(std::uint32_t n) const noexcept {
    for (;;) {
      const std::uint32_t next = above(n);
      if (next == n) return n;
      n = next;
    }
  }
  /// Hangs the larger root below the smaller one. Workers may do so at the same time: only a root is changed,
  /// and only once. The order of other accesses does not matter, so all of them are relaxed. Climbs from both
  /// sides, always where the number is higher, until the trees meet or a root can be hung on the other side.
  /// On the way it hangs each number below the one after the next: what is no root stays none, so that this
  /// needs no more than a store.
  void link(std::uint32_t u, std::uint32_t v) noexcept {
    std::uint32_t high = above(u), low = above(v);
    while (high != low) {
      if (high < low) std::swap(high, low);
      std::uint32_t next = above(high);
      if (next != high)
        set_above(high, above(next));
      else if (above_[high].compare_exchange_strong(next, low, std::memory_order_relaxed))
        return;
      high = next;
    }
  }
  /// Hangs the numbers right below their roots.
  void compress(std::uint32_t first, std::uint32_t last) noexcept {
    for (std::uint32_t n = first; n < last; ++n) {
      if (last - n > kAhead) fetch(above(n + kAhead));
      const std::uint32_t next = above(n), top = above(next);
      set_above(n, top == next ? top : root(top));
    }
  }

 private:
  static constexpr std::uint32_t kAhead = 16;
  topology::NodeMemory memory_;
  std::span<std::atomic<std::uint32_t>> above_;
};

}  // namespace edgewire::frontier
