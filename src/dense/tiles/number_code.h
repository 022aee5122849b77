// Numbers of 16 bits as bytes, for numbers that are mostly small.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace edgewire::tiles {

/// Appends the code of the numbers. It consists of blocks of 128 numbers; the last block is filled up.
///
/// A block has the low bits of its numbers, the same count of bits of each, in the vertical layout of
/// SIMD-BP128 (Lemire, Boytsov: "Decoding billions of integers per second through vectorization", 2015), so
/// that a vector instruction unpacks eight numbers. The numbers that need more bits are exceptions, as in
/// PFor (Zukowski et al.: "Super-scalar RAM-CPU cache compression", 2006): their places and high bits are in
/// front. Where no number is 0, each is stored less one, so a block of ones takes one byte.
void encode_numbers(std::span<const std::uint16_t> numbers, std::vector<std::byte>& code);

/// The number of bytes behind a code that a NumberReader may read. It ignores them.
inline constexpr std::size_t kNumberSlack = 4;

/// A reader of the numbers of a code. It stays within the code and its slack, whatever the bytes are.
class NumberReader {
 public:
  static constexpr std::size_t kBlock = 128;
  static constexpr std::size_t kMostTaken = 15 * kBlock;

  /// Makes a reader. `code` stays where it is.
  explicit NumberReader(std::span<const std::byte> code) noexcept
      : next_(code.data()), end_(code.data() + code.size()) {}
  /// Returns the next `count` numbers, at most kMostTaken, which stay until the next call. The number in
  /// front of them can be read, too; it means nothing. Returns null when the code is at its end or damaged.
  const std::uint16_t* take(std::size_t count) noexcept {
    if (filled_ - at_ < count && !refill(count)) return nullptr;
    const std::uint16_t* const numbers = numbers_.data() + at_;
    at_ += count;
    return numbers;
  }

 private:
  bool refill(std::size_t count) noexcept;
  bool decode_block(std::uint16_t* out) noexcept;

  const std::byte* next_;
  const std::byte* end_;
  static constexpr std::size_t kMargin = 8;      ///< numbers in front of all
  std::size_t at_ = kMargin, filled_ = kMargin;  ///< places in numbers_
  std::array<std::uint16_t, kMargin + kMostTaken + kBlock> numbers_{};
};

}  // namespace edgewire::tiles
