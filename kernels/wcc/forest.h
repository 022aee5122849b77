// A union-find forest over the numbers 0 to n - 1, which several workers build together.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

#include "base/rooms.h"
#include "edgewire/detail/memory.h"

namespace edgewire::kernels {

/// The forest. The root of each tree is its smallest number. Memory: 4 bytes for each number.
class Forest {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// Makes room; call make_sets() before all else.
  explicit Forest(std::uint32_t size)
      : memory_(size * sizeof(std::uint32_t), -1, "union-find trees", topology::Begin::staggered),
        parents_(memory_.as<std::atomic<std::uint32_t>>()) {}

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(parents_.size()); }
  /// Makes each of the numbers a tree of its own.
  void make_sets(std::uint32_t first, std::uint32_t last) noexcept {
    for (std::uint32_t n = first; n < last; ++n) set_parent(n, n);
  }
  /// Returns the parent; a root is its own parent.
  std::uint32_t parent(std::uint32_t n) const noexcept { return parents_[n].load(std::memory_order_relaxed); }
  /// Prefetches the parent of n, which may be none of the numbers.
  void fetch(std::uint32_t n) const noexcept { __builtin_prefetch(parents_.data() + n); }

  std::uint32_t root(std::uint32_t n) const noexcept {
    for (;;) {
      const std::uint32_t next = parent(n);
      if (next == n) return n;
      n = next;
    }
  }
  /// Makes the smaller root the parent of the larger one. Workers may do so at the same time: only a root
  /// gets another root as its parent, and only once. The order of other accesses does not matter, so all of
  /// them are relaxed. The loop climbs from both sides, always where the number is higher, until the trees
  /// meet or a root can get a parent on the other side. On the way each number gets its grandparent as its
  /// parent: a number that is no root stays none, so a store is enough.
  void link(std::uint32_t u, std::uint32_t v) noexcept {
    std::uint32_t high = parent(u), low = parent(v);
    while (high != low) {
      if (high < low) std::swap(high, low);
      std::uint32_t next = parent(high);
      if (next != high)
        set_parent(high, parent(next));
      else if (parents_[high].compare_exchange_strong(next, low, std::memory_order_relaxed))
        return;
      high = next;
    }
  }
  /// Makes roots the parents of the numbers.
  void compress(std::uint32_t first, std::uint32_t last) noexcept {
    for (std::uint32_t n = first; n < last; ++n) {
      if (last - n > kAhead) fetch(parent(n + kAhead));
      const std::uint32_t next = parent(n), top = parent(next);
      set_parent(n, top == next ? top : root(top));
    }
  }

 private:
  static constexpr std::uint32_t kAhead = 16;
  void set_parent(std::uint32_t n, std::uint32_t parent) noexcept {
    parents_[n].store(parent, std::memory_order_relaxed);
  }

  topology::NodeMemory memory_;
  std::span<std::atomic<std::uint32_t>> parents_;
};

}  // namespace edgewire::kernels
