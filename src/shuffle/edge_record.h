// Edges as records of a shuffle: source, target and weight, big endian, so that they sort as bytes do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "graph/weight_key.h"
#include "shuffle/record.h"

namespace edgewire::shuffle {

/// An edge between two ids. Without weights its record ends behind them.
struct EdgeRecord {
  std::uint32_t source = 0, target = 0;
  graph::WeightCode weight;  ///< any weight: the type in the file is known only when all edges are

  static constexpr std::size_t kLongest = RecordShape{RecordShape::kWeightedBytes}.stride();
};

inline void store_big_endian(std::byte* to, std::uint32_t number) {
  number = __builtin_bswap32(number);
  std::memcpy(to, &number, sizeof number);
}

inline std::uint32_t load_big_endian(const std::byte* from) {
  std::uint32_t number = 0;
  std::memcpy(&number, from, sizeof number);
  return __builtin_bswap32(number);
}

inline std::array<std::byte, EdgeRecord::kLongest> store(const EdgeRecord& edge) {
  std::array<std::byte, EdgeRecord::kLongest> record{};
  store_big_endian(record.data(), edge.source);
  store_big_endian(&record[4], edge.target);
  record[8] = std::byte{edge.weight.range};
  const std::uint64_t weight = __builtin_bswap64(edge.weight.value);
  std::memcpy(&record[9], &weight, sizeof weight);
  return record;
}

inline EdgeRecord load(const std::byte* record, bool weighted) {
  EdgeRecord edge{load_big_endian(record), load_big_endian(record + 4), {}};
  if (!weighted) return edge;
  edge.weight.range = std::to_integer<std::uint8_t>(record[8]);
  std::memcpy(&edge.weight.value, record + 9, sizeof edge.weight.value);
  edge.weight.value = __builtin_bswap64(edge.weight.value);
  return edge;
}

}  // namespace edgewire::shuffle
