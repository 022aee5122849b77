// Edges as records of a shuffle: source, target and weight, big endian, so that they sort as bytes do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "edgewire/numbering.h"
#include "graph/file/weights.h"
#include "shuffle/record.h"

namespace edgewire::shuffle {

/// An edge between two ids. Without weights its record ends behind them.
struct EdgeRecord {
  PlainId source = 0, target = 0;
  graph::WeightCode weight;  ///< weight of any type: the type in the file is known only when all edges are

  static constexpr std::size_t kLongest = RecordShape{RecordShape::kWeightedBytes}.stride();
};

/// Turns the bytes of an id around.
template <class Id>
Id swapped(Id id) noexcept {
  if constexpr (sizeof id == 4)
    return __builtin_bswap32(id);
  else
    return __builtin_bswap64(id);
}

inline void store_big_endian(std::byte* to, PlainId number) {
  number = swapped(number);
  std::memcpy(to, &number, sizeof number);
}

inline PlainId load_big_endian(const std::byte* from) {
  PlainId number = 0;
  std::memcpy(&number, from, sizeof number);
  return swapped(number);
}

inline std::array<std::byte, EdgeRecord::kLongest> store(const EdgeRecord& edge) {
  std::array<std::byte, EdgeRecord::kLongest> record{};
  store_big_endian(record.data(), edge.source);
  store_big_endian(&record[sizeof(PlainId)], edge.target);
  record[2 * sizeof(PlainId)] = std::byte{edge.weight.range};
  const std::uint64_t weight = __builtin_bswap64(edge.weight.value);
  std::memcpy(&record[2 * sizeof(PlainId) + 1], &weight, sizeof weight);
  return record;
}

inline EdgeRecord load(const std::byte* record, bool weighted) {
  EdgeRecord edge{load_big_endian(record), load_big_endian(record + sizeof(PlainId)), {}};
  if (!weighted) return edge;
  edge.weight.range = std::to_integer<std::uint8_t>(record[2 * sizeof(PlainId)]);
  std::memcpy(&edge.weight.value, record + 2 * sizeof(PlainId) + 1, sizeof edge.weight.value);
  edge.weight.value = __builtin_bswap64(edge.weight.value);
  return edge;
}

}  // namespace edgewire::shuffle
