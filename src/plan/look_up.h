// Looks up numbers in tables that are larger than the caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "plan/vertex_set.h"
#include "topology/cpu_level.h"

namespace edgewire::plan {

inline constexpr std::size_t kLookUpAhead = 256;

/// Replaces each number by its table entry. Prefetches the entries into the L2 cache. That takes half the
/// time of prefetching into the L1 cache (measured on Zen 4).
inline void look_up(std::span<const std::uint32_t> table, std::span<std::uint32_t> numbers) {
  const std::size_t ahead = std::min(numbers.size(), kLookUpAhead);
  const auto ask = [&](std::uint32_t number) { __builtin_prefetch(&table[number], 0, 2); };
  for (const auto number : numbers.first(ahead)) ask(number);
  for (std::size_t i = 0; i < numbers.size() - ahead; ++i) {
    ask(numbers[i + kLookUpAhead]);
    numbers[i] = table[numbers[i]];
  }
  for (auto& number : numbers.last(ahead)) number = table[number];
}

/// Replaces vertices by their places in the table (see VertexNumbers::visit()), and prefetches what `table`
/// has there.
template <class PlaceOf>
void find_places(const PlaceOf& place_of, const std::uint32_t* table, std::span<std::uint32_t> vertices) {
  for (auto& vertex : vertices) {
    vertex = place_of(VertexId(vertex));
    __builtin_prefetch(table + vertex, 0, 2);
  }
}

/// Replaces each vertex by its number.
inline void look_up(const VertexNumbers& table, std::span<std::uint32_t> vertices) {
  table.visit([&](const auto& place_of) {
    topology::run_scalar_for_cpu([&] {
      const std::uint32_t* const all = table.all().data();
      for (auto left = vertices; !left.empty(); left = left.subspan(std::min(left.size(), kLookUpAhead))) {
        const auto some = left.first(std::min(left.size(), kLookUpAhead));
        find_places(place_of, all, some);
        for (auto& number : some) number = all[number];
      }
    });
  });
}

/// The same for rows of vertices that end at `ends`. It also removes the numbers that are not below `limit`,
/// and sets `ends` to the new ends.
inline void look_up_below(std::uint32_t limit, const VertexNumbers& table, std::span<std::uint32_t> vertices,
                          std::span<std::uint32_t> ends) {
  table.visit([&](const auto& place_of) {
    topology::run_scalar_for_cpu([&] {
      const std::uint32_t* const all = table.all().data();
      const std::size_t ahead = std::min(vertices.size(), kLookUpAhead);
      find_places(place_of, all, vertices.first(ahead));
      std::uint32_t* next = vertices.data();
      std::size_t i = 0, row = 0;
      const auto go_to = [&](std::size_t end, std::size_t asked) {
        while (i < end) {
          for (; ends[row] == i; ++row) ends[row] = static_cast<std::uint32_t>(next - vertices.data());
          for (const auto last = std::min<std::size_t>(end, ends[row]); i < last; ++i) {
            find_places(place_of, all, std::span(vertices.data() + i + ahead, asked));
            *next = all[vertices[i]];
            next += *next < limit ? 1 : 0;  // no branch depends on it
          }
        }
      };
      go_to(vertices.size() - ahead, 1);
      go_to(vertices.size(), 0);
      for (; row < ends.size(); ++row) ends[row] = static_cast<std::uint32_t>(next - vertices.data());
    });
  });
}

}  // namespace edgewire::plan
