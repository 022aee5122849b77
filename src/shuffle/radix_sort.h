#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "shuffle/record.h"

namespace edgewire::shuffle {

/// Sorts items with equal digits from `shift` up: by the bits of their prefixes below, then by `less`, an
/// order of items that agrees with their prefixes. It works in place, as American flag sort does (McIlroy,
/// Bostic, McIlroy: "Engineering radix sort", 1993).
template <class Item, class Prefix, class Less>
void sort_by_digits(std::span<Item> items, int shift, const Prefix& prefix, const Less& less) {
  constexpr std::size_t kFew = 192;  // number of items up to which a comparison sort is faster
  if (items.size() <= kFew || shift <= 0) {
    std::sort(items.begin(), items.end(), less);
    return;
  }
  shift = std::max(0, shift - 8);
  const auto digit = [&](const Item& item) { return static_cast<std::size_t>(prefix(item) >> shift & 0xFF); };
  std::array<std::size_t, 256> next{}, ends{};
  for (const Item& item : items) ++ends[digit(item)];
  for (std::size_t d = 0, begin = 0; d < ends.size(); ++d) {
    next[d] = begin;
    begin = ends[d] += begin;
  }
  auto begins = next;
  for (std::size_t d = 0; d < ends.size(); ++d)
    while (next[d] < ends[d]) {
      Item item = items[next[d]];
      for (std::size_t to = digit(item); to != d; to = digit(item)) std::swap(item, items[next[to]++]);
      items[next[d]++] = item;
    }
  for (std::size_t d = 0; d < ends.size(); ++d)
    if (ends[d] - begins[d] > 1)
      sort_by_digits(items.subspan(begins[d], ends[d] - begins[d]), shift, prefix, less);
}

/// Sorts items by `less`, an order that agrees with prefix(item), a std::uint64_t.
template <class Item, class Prefix, class Less>
void radix_sort(std::span<Item> items, const Prefix& prefix, const Less& less) {
  std::uint64_t differing = 0;
  for (const Item& item : items) differing |= prefix(item) ^ prefix(items[0]);
  sort_by_digits(items, static_cast<int>(std::bit_width(differing)), prefix, less);
}

/// A record that is sorted by its prefix first, and lies elsewhere.
struct RecordRef {
  std::uint64_t prefix;
  const std::byte* record;
};

/// Returns the order of such records. `shape` outlives it.
inline auto order_of_refs(const RecordShape& shape) {
  return [&shape](const RecordRef& a, const RecordRef& b) {
    return a.prefix != b.prefix ? a.prefix < b.prefix : shape.less_behind_prefix(a.record, b.record);
  };
}

inline void radix_sort(std::span<RecordRef> refs, const RecordShape& shape) {
  radix_sort(
      refs, [](const RecordRef& ref) { return ref.prefix; }, order_of_refs(shape));
}

}  // namespace edgewire::shuffle
