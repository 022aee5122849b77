// What the tiles of a column look like in memory: 16-bit words, tile after tile, in the order of their
// sources.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/tile.h"

namespace edgewire::kernels {

/// A tile is: the number of its strip, its direction, the set of its bundle sizes (bit n-1: there are bundles
/// of n others), then for each size, the smallest first, the number of bundles (two words, low first), then
/// the bundles in the same order: the key, then its others. Sources count from the start of the strip,
/// destinations from the start of the column.
enum class Direction : std::uint16_t { pull = 0, push = 1 };

inline constexpr std::uint32_t kTileHeaderWords = 3;
/// A bundle of n takes n - 1 words less than n pairs and a size takes two words, so a tile is never more than
/// this longer than its pairs would be: the header, size 1, and one bundle of size 2.
inline constexpr std::uint32_t kTileSlackWords = kTileHeaderWords + 3;
static_assert(kBundle == 16, "the set of sizes is a word");

inline std::uint32_t read_count(const std::uint16_t* words) noexcept {
  return static_cast<std::uint32_t>(words[0]) | static_cast<std::uint32_t>(words[1]) << 16;
}
inline void write_count(std::uint16_t* words, std::uint32_t count) noexcept {
  words[0] = static_cast<std::uint16_t>(count & 0xffff);
  words[1] = static_cast<std::uint16_t>(count >> 16);
}

}  // namespace edgewire::kernels
