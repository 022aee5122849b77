// This file sorts numbers by some of their bits, in a few passes without comparing them.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace edgewire {

/// Sorts items by their lowest `bits` bits; items that are equal in these keep their order. `other` has room
/// for as many; returns which of the two holds the sorted items. Each pass deals the items by one digit,
/// lowest first (Knuth: The Art of Computer Programming 3, 5.2.5, algorithm R).
template <class Item>
std::span<Item> digit_sort(std::span<Item> items, std::span<Item> other, int bits) {
  constexpr int kDigitBits = 11;  // the places of all digits fit the first cache
  const int passes = (bits + kDigitBits - 1) / kDigitBits;
  for (int pass = 0; pass < passes; ++pass) {
    const int low = bits * pass / passes, width = bits * (pass + 1) / passes - low;
    const auto digit = [low, mask = (std::size_t{1} << width) - 1](const Item& item) {
      return static_cast<std::size_t>(item >> low) & mask;
    };
    std::array<std::size_t, std::size_t{1} << kDigitBits> places{};
    for (const Item& item : items) ++places[digit(item)];
    std::size_t before = 0;
    for (std::size_t& place : places) before += std::exchange(place, before);
    for (const Item& item : items) other[places[digit(item)]++] = item;
    std::swap(items, other);
  }
  return items;
}

}  // namespace edgewire
