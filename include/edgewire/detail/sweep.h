// Sweeps tiles with the types and functions of a program. Almost all the work is loads by index, so vectors
// do not help.
#pragma once

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "edgewire/detail/along.h"
#include "edgewire/detail/cpu_level.h"
#include "edgewire/detail/tile.h"
#include "edgewire/detail/tile_format.h"
#include "edgewire/detail/tile_order.h"
#include "edgewire/detail/weighted_sum.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// The part of a program that a sweep needs:
///   Message, Accumulator;
///   identity(): the accumulator of a destination that no edge reaches;
///   along(message), along(message, weight): what a message becomes on an edge; without the second one,
///   weights are ignored, without the first one, they are needed (the weight is a float where that holds all
///   weights of the graph, else a double); combine(a, b): associative and commutative,
///   identity() is neutral.
template <class P>
class Sweep {
  using Message = typename P::Message;
  using Accumulator = typename P::Accumulator;

 public:
  /// Combines, for each edge of the tiles in `words`, what it carries into its destination's accumulator.
  /// `x`: by source; `accumulators`: by destination in the column.
  static void add(std::span<const std::uint16_t> words, const Message* x, Accumulator* accumulators) noexcept;

 private:
  static void sweep(std::span<const std::uint16_t> words, const Message* x,
                    Accumulator* accumulators) noexcept {
    const std::uint16_t* const end = words.data() + words.size();
    for (const std::uint16_t* tile = words.data(); tile != end;) {
      const std::uint16_t* const counts = tile + kTileHeaderWords;
      const std::uint16_t* const bundles = tile + head_words(tile);
      const Message* const strip = x + std::size_t{tile[0]} * kStripWidth;
      const std::size_t weight = weight_words(tile);
      if (weight == 0) {
        tile = sweep_sizes<1, void>(tile, counts, {bundles, nullptr}, strip, accumulators).words;
        continue;
      }
      const Cursor at{bundles, tile + words_before_weights(tile)};
      if (weight == kWeightWords<float>)
        tile = sweep_sizes<1, float>(tile, counts, at, strip, accumulators).weights;
      else
        tile = sweep_sizes<1, double>(tile, counts, at, strip, accumulators).weights;
    }
  }

  /// The place of a sweep of a tile: in its bundles, and in its weights, if it has any.
  struct Cursor {
    const std::uint16_t* words;
    const std::uint16_t* weights;
  };

  /// `weight`: where the edge's weight is, if it has one.
  template <class Weight>
  [[gnu::always_inline]] static Accumulator along(const Message& message,
                                                  const std::uint16_t* weight) noexcept {
    if constexpr (std::is_void_v<Weight> || !kUsesWeights<P>) {
      return along_plain<P>(message);
    } else {
      Weight factor;
      std::memcpy(&factor, weight, sizeof factor);
      return P::along(message, factor);
    }
  }

  /// Combines in a fixed order, as a tree: most steps then do not depend on each other.
  template <std::size_t Count, class Weight>
  static Accumulator combine_all(const std::uint16_t* sources, const std::uint16_t* weights,
                                 const Message* x) noexcept {
    if constexpr (Count == 1) {
      return along<Weight>(x[*sources], weights);
    } else {
      constexpr std::size_t kHalf = Count / 2;
      const std::uint16_t* const rest =
          !std::is_void_v<Weight> ? weights + kHalf * kWeightWords<Weight> : nullptr;
      const Accumulator first = combine_all<kHalf, Weight>(sources, weights, x);
      return P::combine(first, combine_all<Count - kHalf, Weight>(sources + kHalf, rest, x));
    }
  }

  template <std::size_t Others, class Weight>
  [[gnu::always_inline]] static Cursor pull(Cursor at, std::uint32_t bundles, const Message* x,
                                            Accumulator* accumulators) noexcept {
    for (; bundles != 0; --bundles, at.words += 1 + Others) {
      // A sweep reads each edge once. This hint keeps edges from displacing source values in the caches.
      if constexpr (Others >= kBundle / 2) __builtin_prefetch(at.words + kPrefetchWords, 0, 0);
      const Accumulator all = combine_all<Others, Weight>(at.words + 1, at.weights, x);
      Accumulator& one = accumulators[at.words[0]];
      one = P::combine(one, all);
      if constexpr (!std::is_void_v<Weight>) at.weights += Others * kWeightWords<Weight>;
    }
    return at;
  }

  template <std::size_t Others, class Weight>
  [[gnu::always_inline]] static Cursor push(Cursor at, std::uint32_t bundles, const Message* x,
                                            Accumulator* accumulators) noexcept {
    for (; bundles != 0; --bundles, at.words += 1 + Others) {
      const Message message = x[at.words[0]];
      [[maybe_unused]] const Accumulator carried = along<void>(message, nullptr);
      for (std::size_t i = 1; i <= Others; ++i) {
        Accumulator& one = accumulators[at.words[i]];
        if constexpr (!std::is_void_v<Weight>)
          one = P::combine(one, along<Weight>(message, at.weights + (i - 1) * kWeightWords<Weight>));
        else
          one = P::combine(one, carried);
      }
      if constexpr (!std::is_void_v<Weight>) at.weights += Others * kWeightWords<Weight>;
    }
    return at;
  }

  /// Sweeps the bundles of `Others` and more: their counts start at `counts`.
  template <std::size_t Others, class Weight>
  [[gnu::always_inline]] static Cursor sweep_sizes(const std::uint16_t* tile, const std::uint16_t* counts,
                                                   Cursor at, const Message* x,
                                                   Accumulator* accumulators) noexcept {
    if ((tile[2] >> (Others - 1) & 1) != 0) {
      const std::uint32_t bundles = read_count(counts);
      counts += 2;
      at = direction_of(tile) == Direction::pull ? pull<Others, Weight>(at, bundles, x, accumulators)
                                                 : push<Others, Weight>(at, bundles, x, accumulators);
    }
    if constexpr (Others < kBundle) return sweep_sizes<Others + 1, Weight>(tile, counts, at, x, accumulators);
    return at;
  }

  static constexpr std::ptrdiff_t kPrefetchWords = 1024;  ///< how far ahead edges are prefetched
};

// It is not inline, so that those below are compiled nowhere else.
template <class P>
void Sweep<P>::add(std::span<const std::uint16_t> words, const Message* x,
                   Accumulator* accumulators) noexcept {
  run_scalar_for_cpu([=] { sweep(words, x, accumulators); });
}

// Compiled once, in dense/tiles/weighted_sums.cpp.
extern template void Sweep<WeightedSum<float>>::add(std::span<const std::uint16_t>, const float*,
                                                    double*) noexcept;
extern template void Sweep<WeightedSum<double>>::add(std::span<const std::uint16_t>, const double*,
                                                     double*) noexcept;

/// Sets accumulators[d - column_begin(column)] to what the column's edges (s, d) carry, combined. Different
/// workers may sweep different columns at the same time. `worker`: see ColumnReader.
template <class P>
void sweep_column(const Tiles& tiles, std::size_t column, const typename P::Message* x,
                  typename P::Accumulator* accumulators, int worker = 0) noexcept {
  std::fill_n(accumulators, tiles.column_width(column), P::identity());
  for (std::size_t number = 0;; ++number) {
    const auto words = tiles.part(worker, column, number);
    if (words.empty()) return;
    Sweep<typename EdgesOf<P>::Type>::add(words, x, accumulators);
  }
}

/// Does the same for all columns of a group, in the order's order. The accumulators of a column start at
/// order.begin(column). `binned`: the values of order.bins(), all strips scattered.
template <class P>
void sweep_group(const Tiles& tiles, const TileOrder& order, std::size_t group, const typename P::Message* x,
                 typename P::Accumulator* accumulators, int worker = 0,
                 const typename P::Message* binned = nullptr) noexcept {
  const bool strips = order.order() == Order::strips;
  for (const std::uint32_t column : order.columns(group)) {
    if (strips)
      sweep_column<P>(tiles, column, x, accumulators + order.begin(column), worker);
    else
      std::fill_n(accumulators + order.begin(column), tiles.column_width(column), P::identity());
  }
  using Edges = typename EdgesOf<P>::Type;
  for (const auto& step : order.steps(group)) Sweep<Edges>::add(step.words, x, accumulators + step.begin);
  if (order.bins().edges() == 0 || binned == nullptr) return;
  for (const std::uint32_t column : order.columns(group))
    order.bins().gather<Edges>(column, binned, accumulators + order.begin(column));
}

}  // namespace edgewire::detail

#pragma GCC visibility pop
