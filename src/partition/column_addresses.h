// Cuts destinations into columns. The address of a destination has the column in its upper 16 bits and the
// offset in the column in its lower 16 bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/parallel.h"

#include "partition/ownership.h"

namespace edgewire::partition {

inline constexpr std::uint32_t kOffsetBits = 16;

/// The number of a destination that is not in this process.
inline constexpr std::uint32_t kNoDestination = std::numeric_limits<std::uint32_t>::max();

/// The number of destinations whose edges are counted together. Columns begin at multiples, or at `begin`.
inline constexpr std::uint32_t kColumnGranule = 64;

/// Cuts the destinations [begin, end) into columns and appends their bounds; bounds.back() must be `begin`. A
/// column has at most `width` destinations and at most `most_edges` edges, unless one granule alone has more.
/// counts[destination / kColumnGranule]: number of edges of a granule.
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

/// Returns how many edges each column has; a granule that several columns share counts in each.
inline std::vector<std::uint64_t> edges_of_columns(std::span<const std::uint32_t> bounds,
                                                   std::span<const std::uint64_t> counts) {
  std::vector<std::uint64_t> edges;
  for (std::size_t c = 0; c + 1 < bounds.size(); ++c) {
    edges.push_back(0);
    for (std::uint32_t g = bounds[c] / kColumnGranule; g <= (bounds[c + 1] - 1) / kColumnGranule; ++g)
      edges.back() += counts[g];
  }
  return edges;
}

/// Computes the address of a destination. Column c is [bounds[c], bounds[c + 1]), not empty and at most 2^16
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
  /// Column of each block's first destination, [destination >> kBlockBits].
  std::vector<std::uint32_t> columns_;
};

/// Turns destinations, but for kNoDestination, into addresses. Throws Error when there are too many columns.
void to_addresses(std::span<std::uint32_t> destinations, std::span<const std::uint32_t> bounds,
                  const ForEach& for_each);
/// Turns addresses of destinations back into destinations.
void to_destinations(std::span<std::uint32_t> addresses, std::span<const std::uint32_t> bounds,
                     const ForEach& for_each);

}  // namespace edgewire::partition
