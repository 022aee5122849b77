// Numbers that order as weights do. -0 counts as 0.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <type_traits>

#include "graph/weights.h"

namespace edgewire::graph {

/// As wide as a weight of this type in a graph file.
template <class Number>
using WeightKey = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;

/// Negative weights first.
template <class Number>
WeightKey<Number> weight_key(Number weight) {
  using Key = WeightKey<Number>;
  if constexpr (std::is_unsigned_v<Number>) {
    return weight;
  } else {
    constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
    const auto bits = std::bit_cast<Key>(weight == 0 ? Number{0} : weight);
    return (bits & kSign) != 0 ? ~bits : bits | kSign;
  }
}

/// The weight of such a key.
template <class Number>
Number weight_of(WeightKey<Number> key) {
  using Key = WeightKey<Number>;
  if constexpr (std::is_unsigned_v<Number>) {
    return key;
  } else {
    constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
    return std::bit_cast<Number>((key & kSign) != 0 ? key & ~kSign : ~key);
  }
}

/// Any weight in 9 bytes, before it is known how the file stores weights: all doubles, and all whole numbers
/// up to 2^64 - 1. They order as the weights do, by the range first.
struct WeightCode {
  enum Range : std::uint8_t {
    negative,
    low,    ///< from 0 to 2^53: a double holds the whole numbers among them
    whole,  ///< above, up to 2^64 - 1
    high    ///< larger still
  };
  std::uint8_t range = low;
  std::uint64_t value = 0;
  auto operator<=>(const WeightCode&) const = default;  // NOLINT(modernize-use-nullptr): there is no pointer
};

inline WeightCode weight_code(Weight weight) {
  constexpr std::uint64_t kLow = std::uint64_t{1} << 53;
  const double number = weight.number();
  const auto bits = std::bit_cast<std::uint64_t>(number);
  if (weight.is_whole() && weight.bits() > kLow) return {WeightCode::whole, weight.bits()};
  if (number < 0) return {WeightCode::negative, ~bits};
  return {number < 0x1p64 ? WeightCode::low : WeightCode::high, bits};
}

/// The weight of such a code.
inline Weight weight_of(const WeightCode& code) {
  if (code.range == WeightCode::whole) return code.value;
  return std::bit_cast<double>(code.range == WeightCode::negative ? ~code.value : code.value);
}

}  // namespace edgewire::graph
