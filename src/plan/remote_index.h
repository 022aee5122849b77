// The set of remote destinations of a process, and the number of each one in its peer's list.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "plan/ownership.h"
#include "topology/page_vector.h"

namespace edgewire::plan {

/// A bit for each vertex, grouped by owner, in several lists (one for each worker where the strategy sends
/// for each worker). Once sealed, a member's entry is its rank among the members of its owner and list, in
/// ascending local numbers. A quarter byte a vertex and list.
class RemoteIndex {
 public:
  RemoteIndex(const Ownership& ownership, int lists);

  /// Thread safe.
  void mark(int list, Place place) noexcept {
    Word& word = words_[at(list, place)];
    const std::uint64_t bit = std::uint64_t{1} << (place.local % 64);
    std::atomic_ref<std::uint64_t> bits(word.bits);
    // Hubs are marked again and again: reading first keeps their cache lines shared. seal() comes after the
    // workers joined.
    if ((bits.load(std::memory_order_relaxed) & bit) == 0) bits.fetch_or(bit, std::memory_order_relaxed);
  }
  /// After all marks, before the calls below.
  void seal() noexcept;
  /// Members with this owner.
  std::uint32_t count(int list, std::uint32_t owner) const noexcept { return counts_[row(list) + owner]; }
  /// The entry of a member.
  std::uint32_t entry(int list, Place place) const noexcept {
    const Word& word = words_[at(list, place)];
    return word.before + static_cast<std::uint32_t>(
                             std::popcount(word.bits & ((std::uint64_t{1} << (place.local % 64)) - 1)));
  }
  void prefetch(int list, Place place) const noexcept { __builtin_prefetch(&words_[at(list, place)]); }
  /// Local numbers of the members with this owner, ascending.
  std::vector<std::uint32_t> members(int list, std::uint32_t owner) const;

 private:
  struct Word {
    std::uint64_t bits = 0;
    std::uint32_t before = 0;  ///< members of the same owner and list in earlier words
  };
  std::size_t row(int list) const noexcept { return static_cast<std::size_t>(list) * (starts_.size() - 1); }
  std::size_t at(int list, Place place) const noexcept {
    return static_cast<std::size_t>(list) * starts_.back() + starts_[place.owner] + place.local / 64;
  }
  std::vector<std::size_t> starts_;  ///< [owner]: first word
  topology::PageVector<Word> words_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace edgewire::plan
