#pragma once

#include <cstdint>

namespace edgewire {

/// Returns how many bits in each byte of `word` are set. That is up to 8, so that the counts of some words
/// can be added.
constexpr std::uint64_t byte_counts(std::uint64_t word) noexcept {
  word -= word >> 1 & 0x5555555555555555U;
  word = (word & 0x3333333333333333U) + (word >> 2 & 0x3333333333333333U);
  return (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0FU;
}

/// Returns the sum of the bytes.
constexpr std::uint64_t sum_of_bytes(std::uint64_t bytes) noexcept {
  constexpr std::uint64_t kEven = 0x00FF00FF00FF00FFU;
  return ((bytes & kEven) + (bytes >> 8 & kEven)) * 0x0001000100010001U >> 48;
}

/// Returns the number of bits that are set. Without an instruction for it std::popcount() is a call.
constexpr std::uint64_t bit_count(std::uint64_t word) noexcept { return sum_of_bytes(byte_counts(word)); }

}  // namespace edgewire
