// Rows of vertices with many edges as bits: whether one of them has a given entry is seen at once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "frontier/oriented_rows.h"

namespace edgewire::frontier {

/// Of the vertices with the smallest numbers, and so the most edges. Memory: no more than the rows take, and
/// 64 MiB at most.
class HubBits {
 public:
  /// Where rows are not in the order of degrees there are no hubs.
  HubBits(const OrientedRows& rows, const OrientedRows::ForEach& for_each) {
    constexpr std::uint32_t kMost = 1 << 15, kRowsAtOnce = 256;
    if (!rows.by_degree()) return;
    const auto of_rows = static_cast<std::uint64_t>(8 * std::sqrt(static_cast<double>(rows.entries())));
    hubs_ = static_cast<std::uint32_t>(std::min<std::uint64_t>({kMost, of_rows, rows.vertices()}));
    begin_.resize(hubs_ + std::size_t{1});
    for (std::uint32_t hub = 0; hub < hubs_; ++hub)
      begin_[hub + std::size_t{1}] = begin_[hub] + (hub + 31) / 32;
    words_.reset(new std::uint32_t[begin_[hubs_]]);
    for_each((hubs_ + kRowsAtOnce - 1) / kRowsAtOnce, [&](int, std::uint64_t piece) {
      const auto first = static_cast<std::uint32_t>(piece * kRowsAtOnce);
      for (std::uint32_t hub = first; hub < std::min(hubs_, first + kRowsAtOnce); ++hub) {
        std::uint32_t* const words = words_.get() + begin_[hub];
        std::fill(words, words_.get() + begin_[hub + std::size_t{1}], 0U);
        for (const std::uint32_t entry : rows.row(hub)) words[entry / 32] |= std::uint32_t{1} << entry % 32;
      }
    });
  }

  /// Those vertices have bits whose numbers are smaller.
  std::uint32_t hubs() const noexcept { return hubs_; }
  /// A bit for each number smaller than `hub`.
  const std::uint32_t* words(std::uint32_t hub) const noexcept { return words_.get() + begin_[hub]; }

 private:
  std::uint32_t hubs_ = 0;
  std::vector<std::size_t> begin_;
  std::unique_ptr<std::uint32_t[]> words_;
};

}  // namespace edgewire::frontier
