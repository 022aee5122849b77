#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/bits.h"

namespace edgewire {

/// A set of small numbers that knows how many of them are below another number.
class RankedBits {
 public:
  explicit RankedBits(Bits bits) : bits_(std::move(bits)), before_(bits_.words()) {
    for (std::size_t w = 0; w < before_.size(); ++w) {
      before_[w] = count_;
      count_ += static_cast<std::uint32_t>(std::popcount(bits_.word(w)));
    }
  }
  std::uint32_t count() const noexcept { return count_; }
  bool has(std::uint32_t number) const noexcept { return bits_.test(number); }
  /// Returns how many numbers of the set are below this one.
  std::uint32_t below(std::uint32_t number) const noexcept {
    const Bits::Word lower = bits_.word(number / Bits::kBits) & ((Bits::Word{1} << number % Bits::kBits) - 1);
    return before_[number / Bits::kBits] + static_cast<std::uint32_t>(std::popcount(lower));
  }
  /// Returns all numbers of the set, ascending.
  template <class Number = std::uint32_t>
  std::vector<Number> members() const {
    return bits_.members<Number>();
  }

 private:
  Bits bits_;
  std::vector<std::uint32_t> before_;  ///< [word]
  std::uint32_t count_ = 0;
};

}  // namespace edgewire
