// Tables that are larger than the caches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace edgewire::plan {

/// Replaces each number by its table entry. Entries are asked for early, into the L2 cache: half the time of
/// the L1 cache as goal (measured on Zen 4).
inline void look_up(std::span<const std::uint32_t> table, std::span<std::uint32_t> numbers) {
  constexpr std::size_t kAhead = 256;
  const std::size_t ahead = std::min(numbers.size(), kAhead);
  const auto ask = [&](std::uint32_t number) { __builtin_prefetch(&table[number], 0, 2); };
  for (const auto number : numbers.first(ahead)) ask(number);
  for (std::size_t i = 0; i < numbers.size() - ahead; ++i) {
    ask(numbers[i + ahead]);
    numbers[i] = table[numbers[i]];
  }
  for (auto& number : numbers.last(ahead)) number = table[number];
}

}  // namespace edgewire::plan
