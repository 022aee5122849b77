// Rows of vertices with many edges as bits: whether one of them has a given entry is seen at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "frontier/oriented_rows.h"

namespace edgewire::frontier {

/// Of vertices with the smallest numbers, and so the most edges. Memory: no more than the rows take, and 64
/// MiB at most.
class HubBits {
 public:
  /// Of rows with numbers in [first, last) that are there, which have so many entries or more: of boundary
  /// vertices alone, or of owned ones, too. Where rows are not in the order of degrees there are no hubs.
  HubBits(const OrientedRows& rows, const OrientedRows::ForEach& for_each, std::uint32_t first,
          std::uint32_t last, std::uint64_t entries, bool owned)
      : first_(first), hubs_(first) {
    constexpr std::uint32_t kMost = 1 << 15, kRowsAtOnce = 256;
    if (!rows.by_degree()) return;
    const auto words_of = [&](std::uint32_t hub) -> std::size_t {
      return rows.row(hub).empty() || (!owned && rows.degree(hub) > 0) ? 0 : (hub + 31) / 32;
    };
    begin_.push_back(0);
    for (; hubs_ < std::min(kMost, last) && begin_.back() + words_of(hubs_) <= entries; ++hubs_)
      begin_.push_back(begin_.back() + words_of(hubs_));
    words_.reset(new std::uint32_t[begin_.back()]);
    for_each((begin_.size() - 1 + kRowsAtOnce - 1) / kRowsAtOnce, [&](int, std::uint64_t piece) {
      const std::uint64_t from = piece * kRowsAtOnce;
      for (std::uint64_t i = from; i < std::min(begin_.size() - 1, from + kRowsAtOnce); ++i) {
        if (begin_[i] == begin_[i + 1]) continue;
        std::uint32_t* const words = words_.get() + begin_[i];
        std::fill(words, words_.get() + begin_[i + 1], 0U);
        for (const std::uint32_t entry : rows.row(first_ + static_cast<std::uint32_t>(i)))
          words[entry / 32] |= std::uint32_t{1} << entry % 32;
      }
    });
  }

  /// Those vertices have bits whose numbers are smaller.
  std::uint32_t hubs() const noexcept { return hubs_; }
  /// A bit for each number smaller than `hub`, whose row was there.
  const std::uint32_t* words(std::uint32_t hub) const noexcept { return words_.get() + begin_[hub - first_]; }

 private:
  std::uint32_t first_, hubs_;
  std::vector<std::size_t> begin_;  ///< [hub - first_]; one more at the end
  std::unique_ptr<std::uint32_t[]> words_;
};

}  // namespace edgewire::frontier
