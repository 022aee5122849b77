#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/weights.h"

namespace edgewire::graph {

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
  /// Keeps the memory.
  void clear() noexcept {
    size_ = 0;
    real_ = false;
  }
  /// Of u64 or f64; valid until the next call of add().
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
  /// Room for `size` weights, to be filled in.
  PackedWeights(WeightType type, std::size_t size)
      : type_(type), size_(size), data_(new std::byte[size * bytes_of(type)]) {}
  /// A copy in a type that holds them.
  PackedWeights(Weights weights, WeightType type) : PackedWeights(type, weights.size()) {
    weights.visit([&](const auto from) {
      view().visit([&]<class Number>(std::span<const Number>) {
        std::transform(from.begin(), from.end(), data<Number>(),
                       [](const auto weight) { return static_cast<Number>(weight); });
      });
    });
  }

  Weights view() const noexcept { return {type_, data_.get(), size_}; }
  /// `Number` is the type.
  template <class Number>
  Number* data() noexcept {
    return reinterpret_cast<Number*>(data_.get());
  }

 private:
  WeightType type_ = WeightType::f32;
  std::size_t size_ = 0;
  std::unique_ptr<std::byte[]> data_;
};

}  // namespace edgewire::graph
