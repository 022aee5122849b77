// Sweeps the tiles of a column. The same plain code serves all processors. Vector instructions would not
// help: almost all the work is loads by index, and a gather of 16 values takes 2.7 times as long as 16 loads
// (measured on Zen 4).
#include <algorithm>

#include "kernels/tile.h"
#include "kernels/tile_format.h"

namespace edgewire::kernels {

namespace {

constexpr std::ptrdiff_t kPrefetchWords = 1024;  ///< how far ahead edges are prefetched

/// Adds in a fixed order, as a tree: most additions then do not depend on each other.
template <std::size_t Count>
inline double add_all(const std::uint16_t* sources, const float* x) noexcept {
  if constexpr (Count == 1)
    return static_cast<double>(x[*sources]);
  else
    return add_all<Count / 2>(sources, x) + add_all<Count - Count / 2>(sources + Count / 2, x);
}

template <std::size_t Others>
const std::uint16_t* pull(const std::uint16_t* words, std::uint32_t bundles, const float* x,
                          double* sums) noexcept {
  for (; bundles != 0; --bundles, words += 1 + Others) {
    // A sweep reads each edge once. This hint keeps edges from displacing source values in the caches.
    if constexpr (Others >= kBundle / 2) __builtin_prefetch(words + kPrefetchWords, 0, 0);
    sums[words[0]] += add_all<Others>(words + 1, x);
  }
  return words;
}

template <std::size_t Others>
const std::uint16_t* push(const std::uint16_t* words, std::uint32_t bundles, const float* x,
                          double* sums) noexcept {
  for (; bundles != 0; --bundles, words += 1 + Others) {
    const auto value = static_cast<double>(x[words[0]]);
    for (std::size_t i = 1; i <= Others; ++i) sums[words[i]] += value;
  }
  return words;
}

/// Sweeps the bundles of `Others` and more: their counts start at `counts`, the bundles at `words`.
template <std::size_t Others>
const std::uint16_t* sweep_sizes(const std::uint16_t* tile, const std::uint16_t* counts,
                                 const std::uint16_t* words, const float* x, double* sums) noexcept {
  if ((tile[2] >> (Others - 1) & 1) != 0) {
    const std::uint32_t bundles = read_count(counts);
    counts += 2;
    words = static_cast<Direction>(tile[1]) == Direction::pull ? pull<Others>(words, bundles, x, sums)
                                                               : push<Others>(words, bundles, x, sums);
  }
  if constexpr (Others < kBundle) return sweep_sizes<Others + 1>(tile, counts, words, x, sums);
  return words;
}

}  // namespace

Tiles::Tiles(std::span<const std::uint32_t> column_bounds, std::span<const Size> sizes,
             std::span<const std::uint16_t> words, topology::NodeMemory memory) {
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    Column& column = columns_.emplace_back();
    column.begin = column_bounds[c];
    column.width = column_bounds[c + 1] - column_bounds[c];
    column.edges = sizes[c].edges;
    column.parts.push_back(words.first(sizes[c].words));
    words = words.subspan(sizes[c].words);
    edges_ += sizes[c].edges;
  }
  memory_.push_back(std::move(memory));
}

std::uint64_t Tiles::bytes() const noexcept {
  std::uint64_t words = 0;
  for (const Column& column : columns_)
    for (const auto part : column.parts) words += part.size();
  return words * sizeof(std::uint16_t);
}

void compute_column(const Tiles& tiles, std::size_t column, const float* x, double* sums) noexcept {
  std::fill_n(sums, tiles.column_width(column), 0.0);
  add_column(tiles, column, x, sums);
}

void add_column(const Tiles& tiles, std::size_t column, const float* x, double* sums) noexcept {
  for (const auto part : tiles.column_data(column)) {
    const std::uint16_t* const end = part.data() + part.size();
    for (const std::uint16_t* tile = part.data(); tile != end;) {
      const std::uint16_t* const counts = tile + kTileHeaderWords;
      const std::uint16_t* const bundles = counts + std::popcount(tile[2]) * std::ptrdiff_t{2};
      tile = sweep_sizes<1>(tile, counts, bundles, x + std::size_t{tile[0]} * kStripWidth, sums);
    }
  }
}

}  // namespace edgewire::kernels
