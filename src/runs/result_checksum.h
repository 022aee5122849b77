// Checksums of results, which do not depend on who owns a vertex.
#pragma once

#include <bit>
#include <cstdint>

#include "base/mixing.h"

namespace edgewire::runs {

/// What one vertex adds to the checksum of a result. The sum of all, modulo 2^64, is equal for equal results.
/// `Value`: a number of 4 or 8 bytes, of which each bit counts.
template <class Value>
std::uint64_t checksum_of(std::uint64_t vertex, Value value) noexcept {
  std::uint64_t mixed = (vertex + 1) * kGolden;
  if constexpr (sizeof value == sizeof(std::uint32_t))
    mixed += std::bit_cast<std::uint32_t>(value);
  else
    mixed += std::bit_cast<std::uint64_t>(value);
  mixed = (mixed ^ (mixed >> 31)) * kMixFactor;
  return (mixed ^ (mixed >> 29)) * 0x94D049BB133111EB;
}

}  // namespace edgewire::runs
