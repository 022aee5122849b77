// The layout of the tiles of a column in memory: 16-bit words, one tile after the other, ordered by source.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

#include "edgewire/detail/tile.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// A tile consists of
/// - the number of its strip, its direction (with kFloatWeights or kDoubleWeights if edges have weights), and
///   the set of its bundle sizes (bit n - 1 is set if there are bundles of n others), one word each;
/// - for each of these sizes, smallest first, the number of bundles (two words, low word first);
/// - the bundles in the same order: the key, then its others;
/// - the weights of all edges in the order of the others, if they have any: floats or doubles, as two or four
///   words each.
/// Sources count from the start of the strip, destinations from the start of the column.
enum class Direction : std::uint16_t { pull = 0, push = 1 };
inline constexpr std::uint16_t kFloatWeights = 2;
inline constexpr std::uint16_t kDoubleWeights = 4;
inline constexpr unsigned kWeightFlags = kFloatWeights | kDoubleWeights;
/// The number of words of a weight.
template <class Weight>
inline constexpr std::size_t kWeightWords = sizeof(Weight) / sizeof(std::uint16_t);
template <>
inline constexpr std::size_t kWeightWords<void> = 0;

/// Returns how many words a weight has in this tile.
inline std::size_t weight_words(const std::uint16_t* tile) noexcept {
  if ((tile[1] & kDoubleWeights) != 0) return kWeightWords<double>;
  return (tile[1] & kFloatWeights) != 0 ? kWeightWords<float> : 0;
}

inline Direction direction_of(const std::uint16_t* tile) noexcept {
  return static_cast<Direction>(tile[1] & ~kWeightFlags);
}

inline constexpr std::uint32_t kTileHeaderWords = 3;
/// A tile takes at most so many words more than its pairs would take. A bundle of n others takes n - 1 words
/// less than n pairs, and each size takes two words for its count. The worst tile has bundles of size 1 and
/// one bundle of size 2.
inline constexpr std::uint32_t kTileSlackWords = kTileHeaderWords + 3;
static_assert(kBundle == 16, "the set of sizes must fit in a word");

inline std::uint32_t read_count(const std::uint16_t* words) noexcept {
  return static_cast<std::uint32_t>(words[0]) | static_cast<std::uint32_t>(words[1]) << 16;
}
inline void write_count(std::uint16_t* words, std::uint32_t count) noexcept {
  words[0] = static_cast<std::uint16_t>(count & 0xffff);
  words[1] = static_cast<std::uint16_t>(count >> 16);
}

/// Returns how many words stand in front of the bundles of a tile.
inline std::size_t head_words(const std::uint16_t* tile) noexcept {
  return kTileHeaderWords + 2 * static_cast<std::size_t>(std::popcount(unsigned{tile[2]}));
}

/// Calls visit(others, bundles) for each size of bundles that a tile has, with their number, smallest first.
template <class Visit>
void for_each_size(const std::uint16_t* tile, const Visit& visit) {
  const std::uint16_t* counts = tile + kTileHeaderWords;
  for (std::uint32_t others = 1; others <= kBundle; ++others) {
    if ((tile[2] >> (others - 1) & 1) == 0) continue;
    visit(others, read_count(counts));
    counts += 2;
  }
}

/// Returns the number of edges of a tile.
inline std::uint64_t edges_of(const std::uint16_t* tile) noexcept {
  std::uint64_t edges = 0;
  for_each_size(tile, [&](std::uint64_t others, std::uint32_t bundles) { edges += others * bundles; });
  return edges;
}

/// Returns how many words a tile takes in front of its weights.
inline std::uint64_t words_before_weights(const std::uint16_t* tile) noexcept {
  std::uint64_t words = head_words(tile);
  for_each_size(tile, [&](std::uint64_t others, std::uint32_t bundles) { words += bundles * (1 + others); });
  return words;
}

/// Returns how many words a tile takes.
inline std::uint64_t words_of(const std::uint16_t* tile) noexcept {
  return words_before_weights(tile) + edges_of(tile) * weight_words(tile);
}

/// Returns whether `words` are whole tiles of a column (see tile_format.h), with sources below `sources` and
/// destinations below `width`. Sweeping them then stays within its arrays.
bool are_tiles(std::span<const std::uint16_t> words, std::uint64_t sources, std::uint32_t width) noexcept;

}  // namespace edgewire::detail

#pragma GCC visibility pop
