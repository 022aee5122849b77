// Sweeps the tiles of a column. The same plain code serves all processors. Vector instructions would not
// help: almost all the work is loads by index, and a gather of 16 values takes 2.7 times as long as 16 loads
// (measured on Zen 4).
#include <algorithm>
#include <cstring>

#include "tiles/tile.h"
#include "tiles/tile_format.h"

namespace edgewire::tiles {

namespace {

constexpr std::ptrdiff_t kPrefetchWords = 1024;  ///< how far ahead edges are prefetched

/// What a source with this value gives along an edge. `weight`: where the edge's weight is, if it has one.
template <bool kWeighted, class Message>
inline double along(Message value, const std::uint16_t* weight) noexcept {
  if constexpr (!kWeighted) return static_cast<double>(value);
  float factor;
  std::memcpy(&factor, weight, sizeof factor);
  return static_cast<double>(value) * static_cast<double>(factor);
}

/// Adds in a fixed order, as a tree: most additions then do not depend on each other.
template <std::size_t Count, bool kWeighted, class Message>
inline double add_all(const std::uint16_t* sources, const std::uint16_t* weights, const Message* x) noexcept {
  if constexpr (Count == 1) {
    return along<kWeighted>(x[*sources], weights);
  } else {
    constexpr std::size_t kHalf = Count / 2;
    const std::uint16_t* const rest = kWeighted ? weights + kHalf * kWeightWords : nullptr;
    return add_all<kHalf, kWeighted>(sources, weights, x) +
           add_all<Count - kHalf, kWeighted>(sources + kHalf, rest, x);
  }
}

/// Where a sweep of a tile is: in its bundles, and in its weights, if it has any.
struct Cursor {
  const std::uint16_t* words;
  const std::uint16_t* weights;
};

template <std::size_t Others, bool kWeighted, class Message>
Cursor pull(Cursor at, std::uint32_t bundles, const Message* x, double* sums) noexcept {
  for (; bundles != 0; --bundles, at.words += 1 + Others) {
    // A sweep reads each edge once. This hint keeps edges from displacing source values in the caches.
    if constexpr (Others >= kBundle / 2) __builtin_prefetch(at.words + kPrefetchWords, 0, 0);
    sums[at.words[0]] += add_all<Others, kWeighted>(at.words + 1, at.weights, x);
    if constexpr (kWeighted) at.weights += Others * kWeightWords;
  }
  return at;
}

template <std::size_t Others, bool kWeighted, class Message>
Cursor push(Cursor at, std::uint32_t bundles, const Message* x, double* sums) noexcept {
  for (; bundles != 0; --bundles, at.words += 1 + Others) {
    const Message value = x[at.words[0]];
    for (std::size_t i = 1; i <= Others; ++i) {
      sums[at.words[i]] += along<kWeighted>(value, at.weights);
      if constexpr (kWeighted) at.weights += kWeightWords;
    }
  }
  return at;
}

/// Sweeps the bundles of `Others` and more: their counts start at `counts`.
template <std::size_t Others, bool kWeighted, class Message>
Cursor sweep_sizes(const std::uint16_t* tile, const std::uint16_t* counts, Cursor at, const Message* x,
                   double* sums) noexcept {
  if ((tile[2] >> (Others - 1) & 1) != 0) {
    const std::uint32_t bundles = read_count(counts);
    counts += 2;
    at = direction_of(tile) == Direction::pull ? pull<Others, kWeighted>(at, bundles, x, sums)
                                               : push<Others, kWeighted>(at, bundles, x, sums);
  }
  if constexpr (Others < kBundle) return sweep_sizes<Others + 1, kWeighted>(tile, counts, at, x, sums);
  return at;
}

/// Where the bundles of a tile end.
const std::uint16_t* bundles_end(const std::uint16_t* tile, const std::uint16_t* bundles) noexcept {
  const std::uint16_t* counts = tile + kTileHeaderWords;
  for (std::uint32_t size = 1; size <= kBundle; ++size) {
    if ((tile[2] >> (size - 1) & 1) == 0) continue;
    bundles += std::size_t{read_count(counts)} * (1 + size);
    counts += 2;
  }
  return bundles;
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

template <class Message>
void compute_column(const Tiles& tiles, std::size_t column, const Message* x, double* sums) noexcept {
  std::fill_n(sums, tiles.column_width(column), 0.0);
  add_column(tiles, column, x, sums);
}

template <class Message>
void add_column(const Tiles& tiles, std::size_t column, const Message* x, double* sums) noexcept {
  for (const auto part : tiles.column_data(column)) {
    const std::uint16_t* const end = part.data() + part.size();
    for (const std::uint16_t* tile = part.data(); tile != end;) {
      const std::uint16_t* const counts = tile + kTileHeaderWords;
      const std::uint16_t* const bundles = counts + std::popcount(tile[2]) * std::ptrdiff_t{2};
      const Message* const strip = x + std::size_t{tile[0]} * kStripWidth;
      if ((tile[1] & kWeightsFlag) == 0)
        tile = sweep_sizes<1, false>(tile, counts, {bundles, nullptr}, strip, sums).words;
      else
        tile = sweep_sizes<1, true>(tile, counts, {bundles, bundles_end(tile, bundles)}, strip, sums).weights;
    }
  }
}

template void compute_column(const Tiles&, std::size_t, const float*, double*) noexcept;
template void compute_column(const Tiles&, std::size_t, const double*, double*) noexcept;
template void add_column(const Tiles&, std::size_t, const float*, double*) noexcept;
template void add_column(const Tiles&, std::size_t, const double*, double*) noexcept;

}  // namespace edgewire::tiles
