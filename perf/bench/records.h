// What rings and MPI are given to carry: records of 32-bit words, made one by one and looked at one by one.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace edgewire::bench {

/// Writes records from number `first` on into `room`, which holds whole records.
inline void make_records(std::span<std::byte> room, std::size_t record_bytes, std::uint64_t first) {
  for (std::size_t at = 0; at < room.size(); at += record_bytes, ++first)
    for (std::size_t word = 0; word < record_bytes; word += 4) {
      const auto value = static_cast<std::uint32_t>(first + word);
      std::memcpy(&room[at + word], &value, 4);
    }
}

/// Sum of the first words of all records.
inline std::uint64_t sum_records(std::span<const std::byte> records, std::size_t record_bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at < records.size(); at += record_bytes) {
    std::uint32_t value = 0;
    std::memcpy(&value, &records[at], 4);
    sum += value;
  }
  return sum;
}

/// One line of JSON: what one process sent in a second, while it received as much.
inline void print_rate(const char* what, std::size_t record_bytes, std::uint64_t records, double seconds) {
  const double rate = static_cast<double>(records) / seconds;
  fmt::print(
      "{{\"what\": \"{}\", \"record_bytes\": {}, \"records_per_s\": {:.0f}, \"bytes_per_s\": {:.0f}}}\n",
      what, record_bytes, rate, rate * static_cast<double>(record_bytes));
}

}  // namespace edgewire::bench
