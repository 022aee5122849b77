#pragma once

#include <fmt/core.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/bits.h"
#include "base/error.h"
#include "edgewire/numbering.h"

namespace edgewire::shuffle {

/// The set of ids that occur, a bit for each id, and their places in ascending order.
class IdBits {
 public:
  /// Makes an empty set of ids below `limit`. Pages that hold no id take no memory: calloc() does not touch
  /// them. Throws Error where there is no memory.
  explicit IdBits(std::uint64_t limit)
      : words_(static_cast<std::uint64_t*>(std::calloc(limit / 512 + 1, 64))) {  // NOLINT
    if (words_ == nullptr)
      throw Error(
          fmt::format("cannot get {} bytes of memory for vertex ids{}", limit / 8, limit_to_raise(ENOMEM)));
  }

  /// Adds an id. Thread safe, as far as others call set().
  void set(std::uint64_t id) noexcept { set_bit(words_.get()[id / 64], id % 64); }
  /// Returns the ids of [32 * half, 32 * half + 32), as bits.
  std::uint32_t half(std::uint64_t half) const noexcept {
    return static_cast<std::uint32_t>(words_.get()[half / 2] >> half % 2 * 32);
  }
  void add_half(std::uint64_t half, std::uint32_t bits) noexcept {
    words_.get()[half / 2] |= std::uint64_t{bits} << half % 2 * 32;
  }

  /// Counts the ids, which are below `end`. After this none is set any more.
  void count(std::uint64_t end) {
    end_ = end;
    for (std::uint64_t block = 0; block * kBlockBits < end; ++block) {
      ranks_.push_back(static_cast<PlainId>(size_));
      for (std::uint64_t word = 0; word < kBlockBits / 64; ++word)
        size_ += ones(words_.get()[block * (kBlockBits / 64) + word]);
    }
  }
  std::uint64_t size() const noexcept { return size_; }
  /// Returns, after count(), how many ids are less than `id`.
  std::uint64_t rank(std::uint64_t id) const noexcept {
    if (id >= end_) return size_;
    std::uint64_t rank = ranks_[id / kBlockBits];
    for (std::uint64_t word = id / kBlockBits * (kBlockBits / 64); word < id / 64; ++word)
      rank += ones(words_.get()[word]);
    return rank + ones(words_.get()[id / 64] & ((std::uint64_t{1} << id % 64) - 1));
  }
  /// Calls visit(id), after count(), for the ids in [first, last), in order.
  template <class Visit>
  void visit(std::uint64_t first, std::uint64_t last, const Visit& visit) const {
    if (last > end_) last = end_;
    for (std::uint64_t at = first; at < last; at = at / 64 * 64 + 64)
      for (std::uint64_t left = words_.get()[at / 64] >> at % 64 << at % 64; left != 0; left &= left - 1) {
        const std::uint64_t id = at / 64 * 64 + static_cast<std::uint64_t>(std::countr_zero(left));
        if (id >= last) return;
        visit(id);
      }
  }

  /// Returns the bytes of memory that it takes at most.
  static constexpr std::uint64_t memory_bytes(std::uint64_t limit) noexcept {
    return limit / 8 + limit / kBlockBits * sizeof(PlainId);
  }

 private:
  static constexpr std::uint64_t kBlockBits = 512;
  static std::uint64_t ones(std::uint64_t word) noexcept {
    return static_cast<std::uint64_t>(std::popcount(word));
  }
  struct Free {
    void operator()(std::uint64_t* words) const noexcept { std::free(words); }  // NOLINT
  };
  std::uint64_t end_ = 0, size_ = 0;
  std::unique_ptr<std::uint64_t, Free> words_;
  std::vector<PlainId> ranks_;  ///< rank of the first id of each block
};

}  // namespace edgewire::shuffle
