// The weights of edges: what they are stored as, one of them, and a view of many.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace edgewire::graph {

/// Says how a graph file stores the weights of its edges: the type that holds the weights of the input
/// without change.
enum class WeightType : std::uint8_t { f32, f64, u32, u64 };

constexpr std::size_t bytes_of(WeightType type) noexcept {
  return type == WeightType::f32 || type == WeightType::u32 ? 4 : 8;
}
/// Returns whether all weights are whole numbers from 0 on.
constexpr bool is_whole(WeightType type) noexcept {
  return type == WeightType::u32 || type == WeightType::u64;
}
/// Returns the type of float, double, std::uint32_t or std::uint64_t.
template <class Number>
constexpr WeightType weight_type_of() noexcept {
  if (std::is_unsigned_v<Number>) return sizeof(Number) == 4 ? WeightType::u32 : WeightType::u64;
  return sizeof(Number) == 4 ? WeightType::f32 : WeightType::f64;
}
constexpr std::string_view name_of(WeightType type) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"f32", "f64", "u32", "u64"};
  return kNames[static_cast<std::size_t>(type)];
}

/// One weight without change: a whole number from 0 to 2^64 - 1, or else a finite double. -0 is 0.
class Weight {
 public:
  constexpr Weight() = default;
  template <class Number>
  requires std::is_arithmetic_v<Number> Weight(Number number)
  noexcept {  // NOLINT(google-explicit-constructor): it is the number
    if constexpr (std::is_integral_v<Number>)
      whole_ = std::cmp_greater_equal(number, 0);
    else
      whole_ = number >= 0 && number < 0x1p64 && number == std::trunc(number);
    bits_ = whole_ ? static_cast<std::uint64_t>(number)
                   : std::bit_cast<std::uint64_t>(static_cast<double>(number));
  }

  constexpr bool is_whole() const noexcept { return whole_; }
  /// Returns the whole number, or the bits of the double. Equal weights have equal bits.
  constexpr std::uint64_t bits() const noexcept { return bits_; }
  /// Returns the weight as a number of this type, one that holds it or that it is rounded to.
  template <class Number>
  constexpr Number as() const noexcept {
    return whole_ ? static_cast<Number>(bits_) : static_cast<Number>(std::bit_cast<double>(bits_));
  }
  /// Returns the weight as a double, rounded where no double is that whole number.
  constexpr double number() const noexcept { return as<double>(); }

 private:
  std::uint64_t bits_ = 0;
  bool whole_ = true;
};

/// The weights of edges, in the type of their file. A view: what it shows outlives it.
class Weights {
 public:
  /// Makes the weights of edges without weights.
  Weights() = default;
  Weights(WeightType type, const void* data, std::size_t size) noexcept
      : type_(type), data_(static_cast<const std::byte*>(data)), size_(size) {}

  /// Makes a view of float, double, std::uint32_t or std::uint64_t: those of a vector or a span.
  template <class Number, std::size_t Extent>
  Weights(std::span<Number, Extent> numbers) noexcept  // NOLINT(google-explicit-constructor): it shows these
      : Weights(weight_type_of<std::remove_const_t<Number>>(), numbers.data(), numbers.size()) {
    using Plain = std::remove_const_t<Number>;
    static_assert(std::is_same_v<Plain, float> || std::is_same_v<Plain, double> ||
                  std::is_same_v<Plain, std::uint32_t> || std::is_same_v<Plain, std::uint64_t>);
  }
  template <class Number>
  Weights(const std::vector<Number>& numbers) noexcept  // NOLINT(google-explicit-constructor)
      : Weights(std::span<const Number>(numbers)) {}

  WeightType type() const noexcept { return type_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  Weights subspan(std::size_t first, std::size_t count) const noexcept {
    return {type_, data_ + first * bytes_of(type_), count};
  }
  std::span<const std::byte> bytes() const noexcept { return {data_, size_ * bytes_of(type_)}; }

  /// Calls visit(span) with the span of float, double, std::uint32_t or std::uint64_t that it is.
  template <class Visit>
  decltype(auto) visit(Visit&& visit) const {
    switch (type_) {
      case WeightType::f32:
        return visit(as<float>());
      case WeightType::f64:
        return visit(as<double>());
      case WeightType::u32:
        return visit(as<std::uint32_t>());
      default:
        return visit(as<std::uint64_t>());
    }
  }
  /// Returns a weight as a double, which rounds whole numbers above 2^53.
  double operator[](std::size_t edge) const noexcept {
    return visit([edge](const auto weights) { return static_cast<double>(weights[edge]); });
  }
  /// Returns a weight without change.
  Weight at(std::size_t edge) const noexcept {
    return visit([edge](const auto weights) { return Weight(weights[edge]); });
  }

 private:
  template <class Weight>
  std::span<const Weight> as() const noexcept {
    return {reinterpret_cast<const Weight*>(data_), size_};
  }

  WeightType type_ = WeightType::f32;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace edgewire::graph

#pragma GCC visibility pop
