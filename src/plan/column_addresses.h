// Addresses of destinations: the column in the upper 16 bits, the place in the column in the lower ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace edgewire::plan {

inline constexpr std::uint32_t kOffsetBits = 16;

/// Knows the address of every destination. Column c is [bounds[c], bounds[c + 1]), not empty and at most 2^16
/// wide; there are at most 2^16 columns.
class ColumnAddresses {
 public:
  explicit ColumnAddresses(std::span<const std::uint32_t> bounds) : bounds_(bounds.begin(), bounds.end()) {
    std::uint32_t column = 0;
    for (std::uint64_t first = 0; first < bounds.back(); first += 1U << kBlockBits) {
      while (bounds[column + 1] <= first) ++column;
      columns_.push_back(column);
    }
  }
  std::uint32_t operator()(std::uint32_t destination) const noexcept {
    std::uint32_t column = columns_[destination >> kBlockBits];
    while (destination >= bounds_[column + 1]) ++column;
    return column << kOffsetBits | (destination - bounds_[column]);
  }

 private:
  static constexpr std::uint32_t kBlockBits = 6;
  std::vector<std::uint32_t> bounds_;
  std::vector<std::uint32_t> columns_;  ///< [destination >> kBlockBits]: of the first of them
};

}  // namespace edgewire::plan
