#include "edgewire/detail/codec.h"
#include "base/rooms.h"

#include <bit>
#include <cstdint>

#include "dense/plan/volume.h"

namespace edgewire::detail {

namespace {

double power_of_two(int power) noexcept {
  return std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

}  // namespace

Codec::Codec(plan::Encoding encoding, double largest) {
  const bool wide = encoding == plan::Encoding::bf16;
  drop_ = wide ? 16 : 13;
  const int exponent_bits = wide ? 8 : encoding == plan::Encoding::f16 ? 5 : 6;
  if (wide) return;
  // Scale so that a value with the format's largest exponent is `largest` or a little more.
  limit_ = (((1U << exponent_bits) - 1) << 10 | 0x3FF) - (encoding == plan::Encoding::f16 ? 0x400U : 0U);
  const auto top = static_cast<int>(limit_ >> 10);
  int power = 0;
  while (power < 126 && power_of_two(power) < largest) ++power;
  scale_down_ = power_of_two(top - 127 - power);
  scale_up_ = power_of_two(power + 127 - top);
}

}  // namespace edgewire::detail
