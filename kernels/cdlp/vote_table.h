#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "edgewire/numbering.h"

namespace edgewire::kernels {

/// A table that counts votes for labels and knows the label with the most, the smallest of those on a tie. A
/// hash table with linear probing of twice as many slots as there may be labels, or up to four times: the
/// labels around most vertices fit the L1 cache. A vote for a new label takes no other way than one for a
/// label that is there, and the best is kept as votes come, so that the processor has no branch to guess but
/// whether a slot is another label's.
class VoteTable {
 public:
  /// The bits of a label; the count is above them.
  static constexpr int kLabelBits = 8 * sizeof(PlainId);
  __extension__ using Slot = std::conditional_t<kIds64, unsigned __int128, std::uint64_t>;

  /// Forgets all votes. At most `labels` different labels may follow, fewer than 2^32 - 1.
  void start(std::size_t labels) {
    const std::size_t slots = std::min(std::bit_ceil(std::max<std::size_t>(2 * labels, 2)), kMostSlots);
    if (slots > slots_.size()) slots_.resize(slots);
    std::fill_n(slots_.begin(), slots, Slot{0});
    mask_ = slots - 1;
    shift_ = static_cast<unsigned>(32 - std::bit_width(mask_));
    best_ = 0;
  }
  void add(std::span<const PlainId> labels) noexcept {
    Slot* const slots = slots_.data();
    const std::size_t mask = mask_;
    const unsigned shift = shift_;
    Slot best = best_;
    for (const PlainId label : labels) {
      // A slot is its count and below it the complement of its label, so that the winner has the largest one.
      const Slot key = static_cast<PlainId>(~label);
      std::size_t at = folded(label) * kMultiplier >> shift;
      while ((slots[at] != 0) & (static_cast<PlainId>(slots[at]) != key)) at = (at + 1) & mask;
      slots[at] = (slots[at] | key) + kVote;
      best = std::max(best, slots[at]);
    }
    best_ = best;
  }
  /// Returns the label with the most votes, which has at least one.
  PlainId winner() const noexcept { return ~static_cast<PlainId>(best_); }

 private:
  static constexpr Slot kVote = Slot{1} << kLabelBits;
  // Number of slots that the hash can tell apart.
  static constexpr std::size_t kMostSlots = std::size_t{1} << 32;
  static constexpr std::uint32_t kMultiplier = 0x9E3779B1;  // 2^32 / the golden ratio: Fibonacci hashing

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  Slot best_ = 0;
};

}  // namespace edgewire::kernels
