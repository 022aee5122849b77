#pragma once

#include <bit>
#include <cstdint>

namespace edgewire::graph {

/// Orders weights as numbers do: negative ones first. -0 counts as 0.
inline std::uint32_t weight_key(float weight) {
  const auto bits = std::bit_cast<std::uint32_t>(weight == 0.0F ? 0.0F : weight);
  return (bits >> 31) != 0 ? ~bits : bits | 0x8000'0000U;
}

/// The weight of such a key.
inline float weight_of(std::uint32_t key) {
  return std::bit_cast<float>((key >> 31) != 0 ? key & 0x7FFF'FFFFU : ~key);
}

}  // namespace edgewire::graph
