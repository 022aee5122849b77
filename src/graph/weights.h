#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace edgewire::graph {

/// How a graph file stores the weights of its edges: the type that holds the weights of the input without
/// change.
enum class WeightType : std::uint8_t { f32, f64, u32, u64 };

constexpr std::size_t bytes_of(WeightType type) noexcept {
  return type == WeightType::f32 || type == WeightType::u32 ? 4 : 8;
}
/// Whether all weights are whole numbers from 0 on.
constexpr bool is_whole(WeightType type) noexcept {
  return type == WeightType::u32 || type == WeightType::u64;
}
constexpr std::string_view name_of(WeightType type) noexcept {
  switch (type) {
    case WeightType::f32:
      return "f32";
    case WeightType::f64:
      return "f64";
    case WeightType::u32:
      return "u32";
    default:
      return "u64";
  }
}

/// The weights of edges, in the type of their file. A view: what it shows outlives it.
class Weights {
 public:
  /// Of edges without weights.
  Weights() = default;
  Weights(WeightType type, const void* data, std::size_t size) noexcept
      : type_(type), data_(static_cast<const std::byte*>(data)), size_(size) {}

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
  /// As a double, which rounds whole numbers above 2^53.
  double operator[](std::size_t edge) const noexcept {
    return visit([edge](const auto weights) { return static_cast<double>(weights[edge]); });
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
