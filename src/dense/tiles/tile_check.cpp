// Checks tiles that come from a file. It reads each word once, at the speed of the memory.

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/rooms.h"
#include "edgewire/detail/tile_format.h"

namespace edgewire::detail {
namespace {

constexpr std::uint64_t kMostWord = 0xffff;

struct Largest {
  std::uint16_t key = 0, other = 0;
};

/// Eight words, which one instruction compares.
using EightWords [[gnu::vector_size(16)]] = std::uint16_t;

/// Checks `count` bundles of `Words` words each.
template <std::size_t Words>
Largest largest(const std::uint16_t* bundles, std::uint64_t count) noexcept {
  constexpr std::size_t kBundles = sizeof(EightWords) / sizeof(std::uint16_t);
  std::array<EightWords, Words> eight{};
  for (; count >= kBundles; count -= kBundles, bundles += Words * kBundles) {
    for (std::size_t i = 0; i < Words; ++i) {
      EightWords words;
      std::memcpy(&words, bundles + i * kBundles, sizeof words);
      eight[i] = eight[i] > words ? eight[i] : words;
    }
  }
  std::array<std::uint16_t, Words * kBundles> most{};
  std::memcpy(most.data(), eight.data(), sizeof most);
  for (std::size_t i = 0; i < count * Words; ++i) most[i] = std::max(most[i], bundles[i]);
  Largest found;
  for (std::size_t i = 0; i < most.size(); ++i) {
    std::uint16_t& largest = i % Words == 0 ? found.key : found.other;
    largest = std::max(largest, most[i]);
  }
  return found;
}

template <std::size_t... Sizes>
constexpr std::array<Largest (*)(const std::uint16_t*, std::uint64_t) noexcept, sizeof...(Sizes)> by_size(
    std::index_sequence<Sizes...>) {
  return {&largest<Sizes + 2>...};
}

/// Returns the largest key and other of `count` bundles of `others` others.
Largest largest_of(const std::uint16_t* bundles, std::uint64_t count, std::uint32_t others) noexcept {
  static constexpr auto kBySize = by_size(std::make_index_sequence<kBundle>());
  return kBySize[others - 1](bundles, count);
}

/// Removes the first tile from `words`. Returns false when it is not a tile.
bool take_tile(std::span<const std::uint16_t>& words, std::uint64_t sources, std::uint32_t width) noexcept {
  if (words.size() < kTileHeaderWords) return false;
  const std::uint16_t* const tile = words.data();
  const std::size_t front = head_words(tile);
  if (words.size() < front || (tile[1] & ~(kWeightFlags | 1U)) != 0 ||
      (tile[1] & kWeightFlags) == kWeightFlags)
    return false;
  const std::uint64_t first = std::uint64_t{tile[0]} * kStripWidth;
  const std::uint64_t source_end = sources - std::min(sources, first);
  const bool pull = direction_of(tile) == Direction::pull;
  const std::uint64_t key_end = pull ? width : source_end, other_end = pull ? source_end : width;
  const bool any_is_right = key_end > kMostWord && other_end > kMostWord;
  bool well = true;
  words = words.subspan(front);
  for_each_size(tile, [&](std::uint32_t others, std::uint64_t count) {
    const std::uint64_t taken = count * (1 + others);
    well = well && taken <= words.size();
    if (!well) return;
    if (count > 0 && !any_is_right) {
      const Largest found = largest_of(words.data(), count, others);
      well = found.key < key_end && found.other < other_end;
    }
    words = words.subspan(taken);
  });
  if (!well) return false;
  const std::uint64_t weights = edges_of(tile) * weight_words(tile);
  if (weights > words.size()) return false;
  words = words.subspan(weights);
  return true;
}

}  // namespace

bool are_tiles(std::span<const std::uint16_t> words, std::uint64_t sources, std::uint32_t width) noexcept {
  while (!words.empty()) {
    if (!take_tile(words, sources, width)) return false;
  }
  return true;
}

}  // namespace edgewire::detail
