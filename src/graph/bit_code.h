// Instantaneous codes of natural numbers, as WebGraph's files hold them.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/mapped_file.h"

namespace edgewire::graph {

/// Reads the bits of a file, the most significant one of each byte first. Beyond the end there are zeros.
/// A small value: a copy reads on its own.
class BitStream {
 public:
  explicit BitStream(const MappedFile& file) : BitStream({file.data(), file.bytes()}) { file_ = &file; }
  /// For bytes in memory, which do not fail.
  explicit BitStream(std::span<const std::uint8_t> bytes) : data_(bytes.data()), bytes_(bytes.size()) {}

  std::uint64_t at = 0;  ///< the number of the next bit
  std::uint64_t end() const noexcept { return bytes_ * 8; }

  /// The next bits, the first one on top, without moving on: 57 at least, zeros below them.
  std::uint64_t peek() const noexcept {
    const std::uint64_t byte = at / 8;
    if (byte + sizeof(std::uint64_t) > bytes_) [[unlikely]]
      return peek_at_end();
    std::uint64_t word = 0;
    std::memcpy(&word, data_ + byte, sizeof word);
    return __builtin_bswap64(word) << at % 8;
  }
  /// The next `count` bits as a number; 0 to 56 of them.
  std::uint64_t take(unsigned count) noexcept {
    const std::uint64_t word = peek();
    at += count;
    return count == 0 ? 0 : word >> (64 - count);
  }
  /// The number of zeros before the next one, which is taken, too; none where no one follows.
  std::optional<std::uint64_t> unary() noexcept;

  /// Throws Error: "PATH: byte BYTE: WHAT (bit AT)".
  [[noreturn]] void fail(std::string_view what) const;

 private:
  std::uint64_t peek_at_end() const noexcept;

  const MappedFile* file_ = nullptr;
  const std::uint8_t* data_;
  std::uint64_t bytes_;
};

/// Elias's gamma and delta, unary, Boldi and Vigna's zeta ("Codes for the World-Wide Web", Internet
/// Mathematics 2, 2005), Golomb's, and nibbles of three bits and one that marks the last.
enum class BitCode { gamma, delta, unary, zeta, golomb, nibble };

/// Reads numbers in one code. A table holds all codes that are no longer than its index.
class BitCodeReader {
 public:
  /// `parameter`: k of zeta, the modulus of Golomb's; at least 1.
  BitCodeReader(BitCode code, std::uint64_t parameter);

  /// The next number, less than 2^57. Throws Error where the file ends within it, or it is longer.
  std::uint64_t read(BitStream& bits) const {
    const std::uint16_t entry = table_[bits.peek() >> (64 - kIndexBits)];
    if (entry != 0) [[likely]] {
      bits.at += entry % 16U;
      return entry / 16U;
    }
    const Number number = read_long(bits);
    bits.at = number.end;
    return number.value;
  }

 private:
  static constexpr unsigned kIndexBits = 12;
  struct Number {
    std::uint64_t value, end;  ///< the bit after it
  };
  /// Takes a copy of the stream, so that the caller's can stay in registers.
  Number read_long(BitStream bits) const;
  std::optional<std::uint64_t> decode(BitStream& bits) const noexcept;

  BitCode code_;
  std::uint64_t parameter_;
  std::array<std::uint16_t, 1 << kIndexBits> table_{};  ///< 16 * number + bits of its code; 0: it is longer
};

}  // namespace edgewire::graph
