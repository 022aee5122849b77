// Records are ordered by their key, byte by byte, and those with equal keys by all their bytes. So the sorted
// sequence of the same records is always the same, whoever reads, sends and merges them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "edgewire/numbering.h"

namespace edgewire::shuffle {

/// The size of a record, and the place of its key. Keys are bytes, as which text and big-endian numbers sort.
struct RecordShape {
  std::size_t bytes = 0;  ///< size of a record
  std::size_t key_offset = 0;
  std::size_t key_bytes = 0;  ///< bytes of the key, at least 1

  /// The bytes of an edge without and with a weight, see EdgeRecord.
  static constexpr std::size_t kPairBytes = 2 * sizeof(PlainId), kWeightedBytes = kPairBytes + 9;

  /// Returns the bytes of a record in memory and in rings: a multiple of 4, the rest is 0.
  constexpr std::size_t stride() const noexcept { return (bytes + 3) / 4 * 4; }
  /// Returns whether records are short and all of them key, so that buffers sort them as they lie.
  bool sorts_in_place() const noexcept {
    return key_offset == 0 && key_bytes == bytes &&
           (bytes == 8 || bytes == 12 || bytes == kPairBytes || bytes == kWeightedBytes);
  }
  /// Returns the first 8 bytes of the key as a number of the same order.
  std::uint64_t prefix(const std::byte* record) const noexcept {
    std::uint64_t number = 0;
    std::memcpy(&number, record + key_offset, key_bytes < sizeof number ? key_bytes : sizeof number);
    return __builtin_bswap64(number);
  }
  /// Returns whether a comes before b. Their prefixes are equal.
  bool less_behind_prefix(const std::byte* a, const std::byte* b) const noexcept {
    if (key_bytes > sizeof(std::uint64_t)) {
      const int order =
          std::memcmp(a + key_offset + sizeof(std::uint64_t), b + key_offset + sizeof(std::uint64_t),
                      key_bytes - sizeof(std::uint64_t));
      if (order != 0) return order < 0;
    }
    return std::memcmp(a, b, bytes) < 0;
  }
  bool less(const std::byte* a, const std::byte* b) const noexcept {
    const std::uint64_t first = prefix(a), second = prefix(b);
    return first != second ? first < second : less_behind_prefix(a, b);
  }
};
/// Throws UsageError unless a record has 1 to 4096 bytes, and its key lies in it.
void check(const RecordShape& shape);
static_assert(std::endian::native == std::endian::little);

}  // namespace edgewire::shuffle
