// Random numbers that are a function of (seed, index), so that any worker can make any of them.
#pragma once

#include <bit>
#include <cstdint>

#include "base/mixing.h"

namespace edgewire {

/// A stream of numbers for one (seed, index): SplitMix64 started at a mixed state.
class IndexedRandom : public SplitMix64 {
 public:
  constexpr IndexedRandom(std::uint64_t seed, std::uint64_t index)
      : SplitMix64(mix64(mix64(seed + kGolden) + index * 0xD1B54A32D192ED03)) {}
  /// Returns a number below `bound`, by multiplication (bias below bound / 2^64).
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

 private:
  __extension__ using Wide = unsigned __int128;
};

/// A seeded bijection of 0..count-1 that needs no table: rounds of multiplication by odd numbers and
/// xor-shifts, each a bijection of `bits` bits; results outside the range are sent through again until they
/// fall inside.
class Permutation {
 public:
  constexpr Permutation(std::uint64_t count, std::uint64_t seed)
      : count_(count),
        bits_(count > 1 ? static_cast<int>(std::bit_width(count - 1)) : 1),
        mask_((std::uint64_t{1} << bits_) - 1) {
    IndexedRandom random(seed, 0x7065726D);
    for (std::uint64_t& key : keys_) key = random.next() | 1;
  }

  constexpr std::uint64_t operator()(std::uint64_t x) const {
    do {
      for (const std::uint64_t key : keys_) {
        x = ((x ^ (key >> 32)) * key) & mask_;
        x ^= x >> ((bits_ + 1) / 2);
      }
    } while (x >= count_ && count_ > 0);
    return x;
  }

 private:
  std::uint64_t count_;
  int bits_;
  std::uint64_t mask_;
  std::uint64_t keys_[4] = {};
};

}  // namespace edgewire
