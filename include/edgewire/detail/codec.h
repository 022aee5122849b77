// Values on the wire in two bytes, with error feedback.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "edgewire/options.h"

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// Rounds non-negative values to 16 bits: bf16 (8 bits of exponent, 7 of mantissa), f16 (5 and 10; IEEE 754
/// binary16), or u16 (6 and 10, no sign: it has one bit of exponent more than f16). Values are scaled so that
/// `largest` is just within the range; larger values become the largest one. No branches, so that loops over
/// these functions vectorize.
class Codec {
 public:
  Codec() = default;
  /// `largest`: no value exceeds it.
  Codec(Wire encoding, double largest);

  std::uint16_t encode(float value) const noexcept {
    const auto bits = std::bit_cast<std::uint32_t>(std::max(value, 0.0F) * static_cast<float>(scale_down_));
    const std::uint32_t half = (1U << (drop_ - 1)) - 1 + (bits >> drop_ & 1);  // to nearest, ties to even
    return static_cast<std::uint16_t>(std::min((bits + half) >> drop_, limit_));
  }
  float decode(std::uint16_t code) const noexcept {
    // Multiply in double: the scale alone may be too large for a float.
    return static_cast<float>(std::bit_cast<float>(static_cast<std::uint32_t>(code) << drop_) * scale_up_);
  }
  /// Error feedback: adds to `value` what the slot's earlier values lost in rounding, encodes it, and stores
  /// in `residual` what is lost now (Seide and others: 1-Bit Stochastic Gradient Descent, 2014). The sum of
  /// the values of many iterations is then wrong by one rounding at most, unless a value falls below what is
  /// lost: values are not negative, and what is owed then is forgotten, so that `residual` never exceeds one
  /// rounding.
  std::uint16_t encode(float value, float& residual) const noexcept {
    const float wanted = std::max(value + residual, 0.0F);
    const std::uint16_t code = encode(wanted);
    residual = wanted - decode(code);
    return code;
  }

 private:
  unsigned drop_ = 16;
  std::uint32_t limit_ = 0x7F7F;
  double scale_down_ = 1;
  double scale_up_ = 1;
};

}  // namespace edgewire::detail

#pragma GCC visibility pop
