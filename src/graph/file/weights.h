#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/mixing.h"
#include "edgewire/numbering.h"
#include "edgewire/weights.h"

namespace edgewire::graph {

/// Returns a decimal text that reads as the same weight.
std::string to_text(Weight weight);
void append_text(std::string& text, Weight weight);

/// The largest usual weight. Whole numbers above this one are as likely times as weights.
inline constexpr std::uint64_t kLargestUsualWeight = 1 << 24;

/// The facts that some weights have in common, which decide how to store them.
struct WeightFacts {
  std::uint64_t least = ~std::uint64_t{0}, largest = 0;  ///< least and largest of the whole numbers
  bool any = false;                                      ///< whether there are weights
  bool whole = true;                                     ///< whether all are whole numbers from 0 to 2^64 - 1
  bool floats = true;  ///< whether a float holds each of them, as far as a double does

  void add(Weights weights) noexcept;
  void add(const WeightFacts& others) noexcept;
  /// Returns the smallest type that holds them all without change. Where some are whole numbers and others
  /// are not, whole numbers above 2^53 are rounded.
  WeightType type() const noexcept;
  bool like_times() const noexcept { return any && whole && least > kLargestUsualWeight; }
};

/// Returns a hash of an edge. Edges and reversed edges have the same sum of hashes if they are the same
/// edges, and but for chance only then.
constexpr std::uint64_t edge_hash(PlainId source, PlainId target, Weight weight) {
  if (kIds64) return mix64(mix64(mix64(source) + target) + weight.bits());
  return mix64(mix64(std::uint64_t{source} << 32 | target) + weight.bits());
}

/// Weights one behind the other, 8 bytes each: whole numbers, from the first other one on doubles. Whole
/// numbers that no double holds are rounded then, as they are in a graph file that has both.
class WeightList {
 public:
  void add(Weight weight) {
    constexpr std::size_t kFew = 64;
    if (size_ == bits_.size()) bits_.resize(std::max(kFew, 2 * size_));
    if (!weight.is_whole() && !real_) make_real();
    bits_[size_++] = real_ ? std::bit_cast<std::uint64_t>(weight.number()) : weight.bits();
  }
  /// Clears the list, and keeps the memory.
  void clear() noexcept {
    size_ = 0;
    real_ = false;
  }
  /// Returns weights of u64 or f64; they are valid until the next call of add().
  Weights view() const noexcept { return {real_ ? WeightType::f64 : WeightType::u64, bits_.data(), size_}; }

 private:
  void make_real() noexcept {
    for (std::uint64_t& bits : std::span(bits_).first(size_))
      bits = std::bit_cast<std::uint64_t>(static_cast<double>(bits));
    real_ = true;
  }

  std::vector<std::uint64_t> bits_;
  std::size_t size_ = 0;
  bool real_ = false;
};

/// Weights in memory of their own, as many bytes as they need.
class PackedWeights {
 public:
  PackedWeights() = default;
  /// Makes room for `size` weights, to be filled in.
  PackedWeights(WeightType type, std::size_t size)
      : type_(type), size_(size), data_(new std::byte[size * bytes_of(type)]) {}
  /// Makes a copy in a type that holds them.
  PackedWeights(Weights weights, WeightType type) : PackedWeights(type, weights.size()) {
    weights.visit([&](const auto from) {
      view().visit([&]<class Number>(std::span<const Number>) {
        std::transform(from.begin(), from.end(), data<Number>(),
                       [](const auto weight) { return static_cast<Number>(weight); });
      });
    });
  }

  Weights view() const noexcept { return {type_, data_.get(), size_}; }
  /// Returns the memory of the weights. `Number` is their type.
  template <class Number>
  Number* data() noexcept {
    return reinterpret_cast<Number*>(data_.get());
  }

 private:
  WeightType type_ = WeightType::f32;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> data_;
};

/// A number as wide as a weight of this type in a graph file.
template <class Number>
using WeightKey = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;

/// Returns a number a key that orders as the weight does: negative ones first, -0 as 0.
template <class Number>
WeightKey<Number> weight_key(Number weight) {
  using Key = WeightKey<Number>;
  const auto bits = std::bit_cast<Key>(weight == 0 ? Number{0} : weight);
  if constexpr (std::is_unsigned_v<Number>) return bits;
  constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}

/// Returns the weight of such a key.
template <class Number>
Number weight_of(WeightKey<Number> key) {
  using Key = WeightKey<Number>;
  if constexpr (std::is_unsigned_v<Number>) return key;
  constexpr Key kSign = Key{1} << (8 * sizeof(Key) - 1);
  return std::bit_cast<Number>((key & kSign) != 0 ? key & ~kSign : ~key);
}

/// Any weight in 9 bytes, before it is known how the file stores weights: all doubles, and all whole numbers
/// up to 2^64 - 1. They order as the weights do, by the range first.
struct WeightCode {
  enum Range : std::uint8_t {
    negative,
    low,    ///< code of 0 to 2^53: a double holds the whole numbers among them
    whole,  ///< code of more, up to 2^64 - 1
    high    ///< code of more than 2^64 - 1
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

/// Returns the weight of such a code.
inline Weight weight_of(const WeightCode& code) {
  if (code.range == WeightCode::whole) return code.value;
  return std::bit_cast<double>(code.range == WeightCode::negative ? ~code.value : code.value);
}

}  // namespace edgewire::graph
