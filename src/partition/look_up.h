// Looks up numbers in tables that are larger than the caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "partition/vertex_set.h"
#include "topology/cpu_level.h"

namespace edgewire::partition {

inline constexpr std::size_t kLookUpAhead = 256;

/// Sets each number to the table entry at the place that is given for it; `places` may be the same memory.
/// Prefetches the entries into the L2 cache. That takes half the time of prefetching into the L1 cache
/// (measured on Zen 4).
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

/// Finds the places of vertices in the table (see VertexNumbers::visit()), and prefetches what `table` has
/// there.
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

/// The same for rows of vertices that end at `ends`. It also removes the numbers that are not below `limit`,
/// and sets `ends` to the new ends.
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
