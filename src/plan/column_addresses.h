// Columns of destinations: how they are cut, and the addresses of destinations in them: the column in the
// upper 16 bits, the place in the column in the lower ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace edgewire::plan {

inline constexpr std::uint32_t kOffsetBits = 16;

/// Destinations whose edges are counted together; columns begin at multiples of it, or where `begin` says.
inline constexpr std::uint32_t kColumnGranule = 64;

/// Appends the bounds of the columns of destinations [begin, end), bounds.back() being `begin`: at most
/// `width` wide, and with at most `most_edges` edges where a granule has no more. counts[destination /
/// kColumnGranule]: edges of a granule.
inline void cut_columns(std::vector<std::uint32_t>& bounds, std::uint32_t begin, std::uint32_t end,
                        std::uint32_t width, std::uint64_t most_edges,
                        std::span<const std::uint64_t> counts) {
  std::uint64_t edges = 0;
  for (std::uint32_t d = begin; d < end;) {
    const std::uint32_t next = std::min(end, (d / kColumnGranule + 1) * kColumnGranule);
    const std::uint64_t more = counts[d / kColumnGranule];
    if (d > bounds.back() && (next - bounds.back() > width || edges + more > most_edges)) {
      bounds.push_back(d);
      edges = 0;
    }
    edges += more;
    d = next;
  }
  if (end > begin) bounds.push_back(end);
}

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
