// Sets of vertices, and a number for each vertex of a set, in memory that grows with the set, not with the
// graph, unless a table of all vertices takes no more than the owned ones do. Look-ups prefetch.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bits.h"
#include "base/rooms.h"
#include "edgewire/detail/cpu_level.h"
#include "edgewire/detail/page_vector.h"
#include "edgewire/numbering.h"
#include "partition/column_addresses.h"

namespace edgewire::partition {

/// A set of vertices that knows how many of its vertices have lower ids. A word has, for 32 ids, a bit for
/// each one that is in the set, and the number of vertices before. Of 64 words only those that have bits are
/// in memory, 8 bytes each, and 16 bytes for all of them. Where the words are few, all of them are in memory.
/// The set is const and thread safe.
class VertexSet {
 public:
  VertexSet() = default;
  /// Makes the set: visit(take) calls take(v) for all vertices of the set, in any order, also several times
  /// and from several threads. It may be called twice. All are below `vertices`. `affordable`: the number of
  /// vertices for each of which 16 bytes may be taken. Where the graph has at most 64 times as many, all
  /// words are in memory, and one step less leads to each; until they are there, a bit for each vertex is as
  /// well. Throws Error where the set has 2^32 - 1 vertices or more.
  template <class Visit>
  VertexSet(std::uint64_t vertices, std::uint64_t affordable, const Visit& visit) {
    if (vertices / (2 * kBits) <= affordable) {
      // The marks take half the memory of the words, so more of them stay in the caches.
      std::vector<std::uint64_t> marks(vertices / (2 * kBits) + 1);
      visit([data = marks.data()](VertexId v) { set_bit(data[v / (2 * kBits)], v % (2 * kBits)); });
      words_.resize(vertices / kBits + 1);
      for (std::size_t w = 0; w < words_.size(); ++w)
        words_[w] = static_cast<std::uint32_t>(marks[w / 2] >> w % 2 * kBits);
    } else {
      regions_.resize(vertices / (kBits * kWords) + 1);
      visit([this](VertexId v) { set_bit(regions_[v / (kBits * kWords)].used, v / kBits % kWords); });
      open_words();
      visit([this](VertexId v) { set_bit(words_[at(v)], v % kBits); });
    }
    count_words();
  }

  std::uint32_t count() const noexcept { return count_; }
  bool has(VertexId v) const noexcept { return place(v) != 0; }
  /// Returns 1 + the number of vertices of the set with lower ids than `v`; 0 where `v` is not in the set.
  std::uint32_t place(VertexId v) const noexcept {
    return regions_.empty() ? place_in(words_[v / kBits], v) : place_in(word_at(v), v);
  }
  /// Calls work(place), where place(v) is place(). It is for loops: they look up once which words are there.
  template <class Work>
  void visit(const Work& work) const {
    if (regions_.empty())
      work([words = words_.data()](VertexId v) { return place_in(words[v / kBits], v); });
    else
      work([this](VertexId v) { return place_in(word_at(v), v); });
  }
  /// Returns all vertices of the set, ascending.
  std::vector<VertexId> members() const;

 private:
  /// Bits of a word; its upper half has the number of vertices before it.
  static constexpr std::uint32_t kBits = 32;
  static constexpr std::uint32_t kWords = 64;  ///< words of a region
  struct Region {
    std::uint64_t used = 0;   ///< words that have bits
    std::uint32_t first = 0;  ///< place of the first of these in words_
  };

  static std::uint32_t bits_below(std::uint64_t bits, PlainId bit) noexcept {
    return static_cast<std::uint32_t>(std::popcount(bits & ((std::uint64_t{1} << bit) - 1)));
  }
  static std::uint32_t place_in(std::uint64_t word, VertexId v) noexcept {
    // These are the bits of the vertex and of lower ids, its own on top. No branch depends on the vertex.
    const std::uint32_t bits = static_cast<std::uint32_t>(word) << (~static_cast<std::uint32_t>(v) % kBits);
    const std::uint32_t place =
        static_cast<std::uint32_t>(word >> kBits) + static_cast<std::uint32_t>(std::popcount(bits));
    return place & (0 - (bits >> (kBits - 1)));
  }
  /// Returns the place of the word of a vertex of the set, where there are regions. For other vertices it
  /// returns the place of any vertex.
  std::size_t at(VertexId v) const noexcept {
    const Region& region = regions_[v / (kBits * kWords)];
    return region.first + bits_below(region.used, v / kBits % kWords);
  }
  std::uint64_t word_at(VertexId v) const noexcept {
    const std::uint64_t used = regions_[v / (kBits * kWords)].used >> v / kBits % kWords & 1;
    return words_[at(v)] & (0 - used);
  }
  void open_words();
  void count_words();

  std::vector<Region> regions_;       ///< regions; empty: all words are there
  std::vector<std::uint64_t> words_;  ///< words, and an empty one behind those of regions
  std::uint32_t count_ = 0;
};

/// A number for each vertex of a set. All other vertices have kNoDestination.
class VertexNumbers {
 public:
  VertexNumbers() = default;
  /// Makes the numbers. `vertices`: of the graph; `affordable`: as for VertexSet. Where the graph has at most
  /// 4 times as many vertices, and fewer than 2^32, each one has room for a number, and look-ups do not ask
  /// the set.
  VertexNumbers(VertexSet set, std::uint64_t vertices, std::uint64_t affordable)
      : set_(std::move(set)),
        by_id_(vertices <= 4 * affordable && vertices <= kNoDestination),
        numbers_(by_id_ ? vertices : set_.count() + std::size_t{1}, kNoDestination) {}

  bool has(VertexId v) const noexcept { return set_.has(v); }
  /// Returns the number of a vertex of the set.
  std::uint32_t& operator[](VertexId v) noexcept { return numbers_[place(v)]; }
  /// Returns the number of any vertex.
  std::uint32_t operator[](VertexId v) const noexcept { return numbers_[place(v)]; }
  /// Returns the numbers by place; kNoDestination for vertices that are not in the set.
  std::span<std::uint32_t> all() noexcept { return numbers_; }
  std::span<const std::uint32_t> all() const noexcept { return numbers_; }
  /// Calls work(place), where place(v) is the place of any vertex in all(). It is for loops.
  template <class Work>
  void visit(const Work& work) const {
    if (by_id_)
      work([](VertexId v) { return static_cast<std::uint32_t>(v); });
    else
      set_.visit(work);
  }

 private:
  std::uint32_t place(VertexId v) const noexcept {
    return by_id_ ? static_cast<std::uint32_t>(v) : set_.place(v);
  }
  VertexSet set_;
  bool by_id_ = false;
  topology::PageVector<std::uint32_t> numbers_;
};

inline constexpr std::size_t kLookUpAhead = 256;

/// Sets each number to the table entry at its place; `places` may be the same memory. Prefetches the entries
/// into the L2 cache. That takes half the time of prefetching into the L1 cache (measured on Zen 4).
template <class Place>
void look_up(std::span<const std::uint32_t> table, std::span<const Place> places,
             std::span<std::uint32_t> numbers) {
  const std::size_t ahead = std::min(numbers.size(), kLookUpAhead);
  const auto ask = [&](Place place) { __builtin_prefetch(&table[place], 0, 2); };
  for (const auto place : places.first(ahead)) ask(place);
  for (std::size_t i = 0; i < numbers.size() - ahead; ++i) {
    ask(places[i + kLookUpAhead]);
    numbers[i] = table[places[i]];
  }
  for (std::size_t i = numbers.size() - ahead; i < numbers.size(); ++i) numbers[i] = table[places[i]];
}
/// Replaces each number by its table entry.
inline void look_up(std::span<const std::uint32_t> table, std::span<std::uint32_t> numbers) {
  look_up<std::uint32_t>(table, numbers, numbers);
}

/// Finds the places of vertices (see VertexNumbers::visit()), and prefetches the entries of `table` there.
template <class PlaceOf>
void find_places(const PlaceOf& place_of, const std::uint32_t* table, const PlainId* vertices,
                 std::span<std::uint32_t> places) {
  for (auto& place : places) {
    place = place_of(VertexId(*vertices++));
    __builtin_prefetch(table + place, 0, 2);
  }
}

/// Sets each number to that of the vertex at the same place; `vertices` may be the same memory.
inline void look_up(const VertexNumbers& table, std::span<const PlainId> vertices,
                    std::span<std::uint32_t> numbers) {
  table.visit([&](const auto& place_of) {
    topology::run_scalar_for_cpu([&] {
      const std::uint32_t* const all = table.all().data();
      const PlainId* next = vertices.data();
      for (auto left = numbers; !left.empty(); left = left.subspan(std::min(left.size(), kLookUpAhead))) {
        const auto some = left.first(std::min(left.size(), kLookUpAhead));
        find_places(place_of, all, next, some);
        for (auto& number : some) number = all[number];
        next += some.size();
      }
    });
  });
}

/// Does the same for rows that end at `ends`. It removes numbers that are not below `limit`, and sets `ends`.
inline void look_up_below(std::uint32_t limit, const VertexNumbers& table, std::span<const PlainId> vertices,
                          std::span<std::uint32_t> numbers, std::span<std::uint32_t> ends) {
  table.visit([&](const auto& place_of) {
    topology::run_scalar_for_cpu([&] {
      const std::uint32_t* const all = table.all().data();
      const std::size_t ahead = std::min(vertices.size(), kLookUpAhead);
      find_places(place_of, all, vertices.data(), numbers.first(ahead));
      std::uint32_t* next = numbers.data();
      std::size_t i = 0, row = 0;
      const auto go_to = [&](std::size_t end, std::size_t asked) {
        while (i < end) {
          for (; ends[row] == i; ++row) ends[row] = static_cast<std::uint32_t>(next - numbers.data());
          for (const auto last = std::min<std::size_t>(end, ends[row]); i < last; ++i) {
            find_places(place_of, all, vertices.data() + i + ahead, {numbers.data() + i + ahead, asked});
            *next = all[numbers[i]];
            next += *next < limit ? 1 : 0;  // no branch depends on it
          }
        }
      };
      go_to(vertices.size() - ahead, 1);
      go_to(vertices.size(), 0);
      for (; row < ends.size(); ++row) ends[row] = static_cast<std::uint32_t>(next - numbers.data());
    });
  });
}

}  // namespace edgewire::partition
