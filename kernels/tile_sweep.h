// The loops over the bundles of a column. Compiled once for each instruction set (tile_sweep_*.cpp), into the
// namespace that the including file names in EDGEWIRE_ISA_NAMESPACE; no inline function that others share may
// be used here.
#include <cstddef>
#include <cstdint>

#include "kernels/tile_format.h"

namespace edgewire::kernels {
namespace {

constexpr std::ptrdiff_t kPrefetchWords = 1024;  ///< how far ahead edges are asked for

/// Adds in a fixed order, as a tree, so that the adds do not wait for each other.
template <std::uint32_t First, std::uint32_t Count>
inline double add_all(const std::uint16_t* sources, const float* x) noexcept {
  if constexpr (Count == 1) {
    return static_cast<double>(x[sources[First]]);
  } else {
    return add_all<First, Count / 2>(sources, x) + add_all<First + Count / 2, Count - Count / 2>(sources, x);
  }
}

template <std::uint32_t Others>
const std::uint16_t* pull(const std::uint16_t* words, std::uint32_t bundles, const float* x,
                          double* sums) noexcept {
  for (; bundles != 0; --bundles, words += 1 + Others) {
    // Edges are read once per sweep: asked for as such, they leave the caches to the source values.
    if constexpr (Others >= kBundle / 2) __builtin_prefetch(words + kPrefetchWords, 0, 0);
    sums[words[0]] += add_all<0, Others>(words + 1, x);
  }
  return words;
}

template <std::uint32_t Others>
const std::uint16_t* push(const std::uint16_t* words, std::uint32_t bundles, const float* x,
                          double* sums) noexcept {
  for (; bundles != 0; --bundles, words += 1 + Others) {
    const auto value = static_cast<double>(x[words[0]]);
    for (std::uint32_t i = 1; i <= Others; ++i) sums[words[i]] += value;
  }
  return words;
}

template <std::uint32_t Others>
const std::uint16_t* sweep_sizes(const std::uint16_t* tile, const std::uint16_t* counts,
                                 const std::uint16_t* words, const float* x, double* sums) noexcept {
  if ((tile[2] >> (Others - 1) & 1) != 0) {
    const std::uint32_t bundles =
        static_cast<std::uint32_t>(counts[0]) | static_cast<std::uint32_t>(counts[1]) << 16;
    counts += 2;
    words = tile[1] == 0 ? pull<Others>(words, bundles, x, sums) : push<Others>(words, bundles, x, sums);
  }
  if constexpr (Others < kBundle) return sweep_sizes<Others + 1>(tile, counts, words, x, sums);
  return words;
}

void sweep(const std::uint16_t* words, const std::uint16_t* end, const float* x, double* sums) noexcept {
  while (words != end) {
    const std::uint16_t* const counts = words + kTileHeaderWords;
    const auto sizes = static_cast<std::uint32_t>(__builtin_popcount(words[2]));
    words = sweep_sizes<1>(words, counts, counts + sizes * 2, x + std::size_t{words[0]} * kStripWidth, sums);
  }
}

}  // namespace
}  // namespace edgewire::kernels
