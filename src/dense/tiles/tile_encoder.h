// Turns the edges of a tile into bundles, in the direction (pull or push) that is faster to sweep.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/release.h"
#include "base/rooms.h"
#include "edgewire/detail/tile.h"
#include "edgewire/detail/tile_format.h"

namespace edgewire::tiles {

inline constexpr std::uint64_t kValuesPerLine = 16;  ///< source values in a cache line

/// An edge that is not yet in a tile: its source in the strip and its destination in the column.
struct Pair {
  std::uint16_t source;
  std::uint16_t destination;
};
static_assert(sizeof(Pair) == 4);
/// An edge with its weight, a float or a double.
template <class Weight>
struct WeightedPair {
  std::uint16_t source;
  std::uint16_t destination;
  Weight weight = 0;
};
static_assert(sizeof(WeightedPair<float>) == 8 && sizeof(WeightedPair<double>) == 16);
/// The type of a pair's weight; void if it has none.
template <class Pair>
struct WeightOf {
  using Type = void;
};
template <class Weight>
struct WeightOf<WeightedPair<Weight>> {
  using Type = Weight;
};
template <class Pair>
inline constexpr bool kHasWeight = !std::is_void_v<typename WeightOf<Pair>::Type>;

/// A sequence of pairs in several pieces of memory.
template <class Pair>
class PairRuns {
 public:
  void add(std::span<const Pair> run) {
    runs_.push_back(run);
    pairs_ += run.size();
  }
  void clear() {
    runs_.clear();
    pairs_ = 0;
  }
  std::uint64_t pairs() const { return pairs_; }
  std::uint16_t first_source() const { return runs_.front().front().source; }
  std::uint16_t last_source() const { return runs_.back().back().source; }
  template <class Visit>
  void visit(const Visit& visit_one) const {
    for (const auto run : runs_)
      for (const Pair pair : run) visit_one(pair);
  }

 private:
  std::vector<std::span<const Pair>> runs_;  ///< runs, none empty
  std::uint64_t pairs_ = 0;
};

/// Estimates how long a sweep of a tile takes, in picoseconds. A tile that pulls reads source values in
/// random order. It first has to bring them into the cache, also in random order. A tile that pushes adds to
/// accumulators in random order.
struct TileCost {
  std::uint64_t edges, sources, destinations;

  std::uint64_t pull_ps(std::uint64_t bundles) const {
    const std::uint64_t edge_ps = sources <= 8192    ? 270
                                  : sources <= 16384 ? 330
                                  : sources <= 32768 ? 430
                                                     : 530;
    return edges * edge_ps + bundles * 1000 + lines() * 9000;
  }
  std::uint64_t push_ps(std::uint64_t bundles) const {
    const std::uint64_t edge_ps = destinations <= 4096    ? 350
                                  : destinations <= 8192  ? 400
                                  : destinations <= 16384 ? 460
                                                          : 520;
    return edges * edge_ps + bundles * 800 + lines() * 2000;
  }

 private:
  std::uint64_t lines() const { return std::min(sources / kValuesPerLine, edges); }
};

/// Copies kBundle words, inline.
inline void copy_bundle(const std::uint16_t* words, std::uint16_t* out) {
  std::array<std::uint16_t, kBundle> copied;
  std::memcpy(copied.data(), words, sizeof copied);
  std::memcpy(out, copied.data(), sizeof copied);
}

/// Turns pairs (Pair or WeightedPair) into bundles. There is one for each worker.
template <class Pair>
class TileEncoder {
  /// The type of weights. If there are none, their vector is empty.
  using Weight = std::conditional_t<kHasWeight<Pair>, typename WeightOf<Pair>::Type, float>;

 public:
  /// Encodes the pairs of `runs`, ordered by source, all in `strip`, as one tile at `out`. Returns its end.
  std::uint16_t* encode(std::uint64_t strip, const PairRuns<Pair>& runs, std::uint32_t width,
                        std::uint16_t* out) {
    others_.resize(runs.pairs() + kBundle);  // the last bundle is read as if it were whole
    if constexpr (kHasWeight<Pair>) weights_.resize(runs.pairs());
    const bool pull = pull_is_cheaper(runs, width);
    if (pull)
      group_by_destination(runs);
    else
      group_by_source(runs);
    const Direction direction = pull ? Direction::pull : Direction::push;
    std::uint16_t* const end = write_bundles(strip, direction, out);
    if constexpr (kHasWeight<Pair>) return write_weights(out, end);
    return end;
  }

  /// Releases the memory that a tile with many edges needed.
  void trim() {
    if (others_.capacity() <= kFewEdges) return;
    release(others_);
    release(weights_);
  }

 private:
  static constexpr std::size_t kFewEdges = 1 << 19;
  struct Group {
    std::uint16_t key;
    std::uint32_t end;  ///< end of its others
  };

  /// Returns whether pulling is cheaper. Leaves in places_ the places of each destination's sources for a
  /// tile that pulls.
  bool pull_is_cheaper(const PairRuns<Pair>& runs, std::uint32_t width) {
    if (runs.pairs() < width)
      return false;  // few bundles of more than one edge either way; this is faster to build
    const TileCost cost{runs.pairs(), runs.last_source() - runs.first_source() + 1U, width};
    const std::uint64_t pull_ps = cost.pull_ps(count_destinations(runs, width));
    return pull_ps <= cost.push_ps(runs.pairs() / kBundle) || pull_ps <= cost.push_ps(count_sources(runs));
  }

  /// Counts the bundles of a tile that pulls.
  std::uint64_t count_destinations(const PairRuns<Pair>& runs, std::uint32_t width) {
    places_.assign(width, 0);
    runs.visit([&](Pair pair) { ++places_[pair.destination]; });
    std::uint64_t bundles = 0;
    std::uint32_t total = 0;
    for (std::uint32_t& place : places_) {
      bundles += (place + kBundle - 1) / kBundle;
      total += std::exchange(place, total);
    }
    return bundles;
  }

  /// Estimates the number of bundles of a tile that pushes.
  static std::uint64_t count_sources(const PairRuns<Pair>& runs) {
    std::uint64_t sources = 1;
    std::uint16_t before = runs.first_source();
    runs.visit([&](Pair pair) { sources += std::exchange(before, pair.source) != pair.source; });
    return sources + runs.pairs() / kBundle;
  }

  void group_by_source(const PairRuns<Pair>& runs) {
    std::size_t group = 0;
    std::uint32_t end = 0;
    std::uint16_t before = runs.first_source();
    std::uint16_t* const others = others_.data();
    runs.visit([&](Pair pair) {
      group += std::exchange(before, pair.source) != pair.source;
      if constexpr (kHasWeight<Pair>) weights_[end] = pair.weight;
      others[end++] = pair.destination;
      groups_[group] = {pair.source, end};
    });
    group_count_ = group + 1;
  }

  void group_by_destination(const PairRuns<Pair>& runs) {
    std::uint16_t* const others = others_.data();
    std::uint32_t* const places = places_.data();
    runs.visit([&](Pair pair) {
      const std::uint32_t place = places[pair.destination]++;
      others[place] = pair.source;
      if constexpr (kHasWeight<Pair>) weights_[place] = pair.weight;
    });
    group_count_ = 0;
    std::uint32_t begin = 0;
    for (std::uint32_t d = 0; d < places_.size(); ++d) {
      groups_[group_count_] = {static_cast<std::uint16_t>(d), places_[d]};
      group_count_ += places_[d] != begin;
      begin = places_[d];
    }
  }

  std::uint16_t* write_bundles(std::uint64_t strip, Direction direction, std::uint16_t* out) const {
    std::array<std::uint32_t, kBundle + 1> counts{};
    std::uint32_t begin = 0;
    for (const Group& group : std::span(groups_).first(group_count_)) {
      const std::uint32_t others = group.end - begin;
      counts[kBundle] += others / kBundle;
      ++counts[others % kBundle];
      begin = group.end;
    }
    out[0] = static_cast<std::uint16_t>(strip);
    out[1] = static_cast<std::uint16_t>(direction);
    std::uint16_t* next = out + kTileHeaderWords;
    std::uint32_t sizes = 0;
    for (std::uint32_t size = 1; size <= kBundle; ++size) {
      if (counts[size] == 0) continue;
      sizes |= 1U << (size - 1);
      write_count(next, counts[size]);
      next += 2;
    }
    out[2] = static_cast<std::uint16_t>(sizes);
    struct Place {
      std::uint16_t* next;
      std::uint16_t* whole_end;  ///< place before which kBundle words fit into the rest to be written
    };
    std::array<Place, kBundle + 1> places{};
    for (std::uint32_t size = 1; size <= kBundle; ++size) {
      const std::size_t words = std::size_t{counts[size]} * (1 + size);
      places[size] = {next, next + (words > kBundle ? words - kBundle : 0)};
      next += words;
    }
    const std::uint16_t* others = others_.data();
    for (const Group& group : std::span(groups_).first(group_count_)) {
      const std::uint16_t* const end = others_.data() + group.end;
      for (; end - others >= kBundle; others += kBundle) {
        std::uint16_t*& place = places[kBundle].next;
        *place = group.key;
        copy_bundle(others, place + 1);
        place += 1 + kBundle;
      }
      if (others != end) {
        const auto size = static_cast<std::size_t>(end - others);
        Place& place = places[size];
        *place.next = group.key;
        if (place.next < place.whole_end)  // the next bundles overwrite the excess
          copy_bundle(others, place.next + 1);
        else
          std::copy_n(others, size, place.next + 1);
        place.next += 1 + size;
        others = end;
      }
    }
    return next;
  }

  /// Writes the weights behind the bundles of `tile`, which end at `out`, in the order of their others.
  std::uint16_t* write_weights(std::uint16_t* tile, std::uint16_t* out) const {
    tile[1] |= sizeof(Weight) == sizeof(float) ? kFloatWeights : kDoubleWeights;
    std::array<std::uint16_t*, kBundle + 1> places{};  // places by bundle size
    for_each_size(tile, [&](std::uint32_t size, std::size_t bundles) {
      places[size] = out;
      out += bundles * size * kWeightWords<Weight>;
    });
    std::uint32_t begin = 0;
    for (const Group& group : std::span(groups_).first(group_count_)) {
      for (std::uint32_t size; begin != group.end; begin += size) {
        size = std::min(group.end - begin, kBundle);
        std::memcpy(places[size], &weights_[begin], size * sizeof(Weight));
        places[size] += size * kWeightWords<Weight>;
      }
    }
    return out;
  }

  std::vector<std::uint32_t> places_;  ///< places by destination
  std::vector<Group> groups_ = std::vector<Group>(kStripWidth);
  std::size_t group_count_ = 0;
  std::vector<std::uint16_t> others_;
  std::vector<Weight> weights_;  ///< weights of the edges of others_, if they have any
};

}  // namespace edgewire::tiles
