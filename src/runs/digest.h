// This file makes one number of a list of numbers, or of a result, that tells it from others.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mixing.h"
#include "edgewire/kernels.h"

namespace edgewire::runs {

/// Returns a few words that tell lists of numbers apart.
template <class T>
std::string digest(const std::vector<T>& numbers) {
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
  return fmt::format("{} {:016x}", numbers.size(), std::hash<std::string_view>()(bytes));
}

/// Returns whether each worker searches from sources of its own; nothing: the kernel decides.
inline std::optional<bool> apart_asked(Parallel parallel) noexcept {
  return parallel == Parallel::automatic ? std::optional<bool>() : parallel == Parallel::sources;
}

/// Returns the part of one vertex in the checksum of a result. The sum of all, modulo 2^64, is equal for
/// equal results. `Value`: a number of 4 or 8 bytes, every bit of which counts.
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
