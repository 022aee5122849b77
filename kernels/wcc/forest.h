// A union-find forest over the numbers 0 to n - 1, which several workers build together, and its components
// that other processes must hear of.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
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

/// The components of a process that other processes have vertices of, as far as its own edges tell. A
/// component is named by its root, the smallest owned vertex, and numbered in their order.
class OpenComponents {
 public:
  static constexpr std::uint32_t kNone = Forest::kNone;

  OpenComponents(std::uint32_t owned, std::uint32_t processes) : named(processes), roots_(owned) {}

  /// Several workers may add roots at the same time, before number_all().
  void add(std::uint32_t root) noexcept { roots_.set(root); }
  void number_all() {
    before_.resize(roots_.words());
    for (std::size_t w = 0; w < before_.size(); ++w) {
      before_[w] = count_;
      count_ += static_cast<std::uint32_t>(std::popcount(roots_.word(w)));
    }
  }
  const Bits& roots() const noexcept { return roots_; }
  std::uint32_t count() const noexcept { return count_; }
  bool has(std::uint32_t root) const noexcept { return roots_.test(root); }
  /// Returns the number of the component with this root; count() for kNone.
  std::uint32_t number(std::uint32_t root) const noexcept {
    if (root == kNone) return count_;
    const std::uint64_t below = (std::uint64_t{1} << root % Bits::kBits) - 1;
    return before_[root / Bits::kBits] +
           static_cast<std::uint32_t>(std::popcount(roots_.word(root / Bits::kBits) & below));
  }
  /// Returns the number of roots in `named`.
  std::uint64_t names() const noexcept {
    return std::accumulate(named.begin(), named.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const auto& some) { return sum + some.size(); });
  }

  /// The roots of the vertices whose components the two processes name to link them, in an order that both
  /// know, [peer]. kNone: no component here, since edges were linked at the peer.
  std::vector<std::vector<std::uint32_t>> named;
  std::uint32_t giant = kNone;  ///< root of the component that several processes know to be one

 private:
  Bits roots_;
  std::vector<std::uint32_t> before_;  ///< number of roots in the words before a word of roots_
  std::uint32_t count_ = 0;
};

}  // namespace edgewire::kernels
