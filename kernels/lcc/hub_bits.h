// Rows of vertices with many edges as bits, which show at once whether a row has a given entry.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/lcc/oriented_rows.h"

namespace edgewire::kernels {

/// The bits of hubs, which are the vertices with the smallest numbers, and so with the most edges. Memory: no
/// more than the rows take, and at most 64 MiB.
class HubBits {
 public:
  /// Makes bits of the rows of a batch, whose rows have at least `entries`. Where rows are not in the order
  /// of degrees there are no hubs.
  HubBits(const OrientedRows& rows, const ForEach& for_each, const RowBatch& batch, std::uint64_t entries)
      : first_(batch.first), hubs_(batch.first) {
    constexpr std::uint32_t kMost = 1 << 15, kRowsAtOnce = 256;
    if (!rows.by_degree()) return;
    const auto words_of = [&](std::uint32_t hub) -> std::size_t {
      return rows.row(hub, batch).empty() ? 0 : (hub + 31) / 32;
    };
    begin_.push_back(0);
    for (; hubs_ < std::min(kMost, batch.last) && begin_.back() + words_of(hubs_) <= entries; ++hubs_)
      begin_.push_back(begin_.back() + words_of(hubs_));
    words_.reset(new std::uint32_t[begin_.back()]);
    for_each_piece(for_each, begin_.size() - 1, kRowsAtOnce, [&](int, std::uint32_t from, std::uint32_t to) {
      std::fill(words_.get() + begin_[from], words_.get() + begin_[to], 0U);
      for (std::uint32_t i = from; i < to; ++i)
        for (const std::uint32_t entry : rows.row(first_ + i, batch))
          words_[begin_[i] + entry / 32] |= std::uint32_t{1} << entry % 32;
    });
  }

  /// Returns the number below which vertices have bits.
  std::uint32_t hubs() const noexcept { return hubs_; }
  /// Returns the row of a hub: a bit for each smaller number. The row must be in the batch.
  const std::uint32_t* words(std::uint32_t hub) const noexcept { return words_.get() + begin_[hub - first_]; }

 private:
  std::uint32_t first_, hubs_;
  std::vector<std::size_t> begin_;  ///< first words of the hubs, [hub - first_], and the end
  std::unique_ptr<std::uint32_t[]> words_;
};

}  // namespace edgewire::kernels
