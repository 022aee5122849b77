#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/numbering.h"
#include "frontier/boundary.h"
#include "topology/memory.h"
#include "topology/worker_pool.h"

namespace edgewire::frontier {

/// The rows of the vertices that a process owns, with the numbers of the vertices that it knows: loops over
/// edges need no other look at who owns what.
class KnownRows {
 public:
  using RowOf = std::function<std::span<const VertexId>(LocalNumber)>;

  /// `row_of`: the row of an owned vertex, all of whose vertices `boundary` knows. Memory: 4 bytes for each
  /// entry and 8 for each owned vertex.
  KnownRows(const Boundary& boundary, topology::WorkerPool& pool, const RowOf& row_of);

  std::span<const KnownNumber> operator[](LocalNumber local) const noexcept {
    return entries_.subspan(begins_[local], begins_[local + std::size_t{1}] - begins_[local]);
  }
  /// `count` entries from where the row begins, others behind a shorter row; none at the end of all.
  std::span<const KnownNumber> from(LocalNumber local, std::size_t count) const noexcept {
    const std::uint64_t begin = begins_[local];
    return begin + count > entries_.size() ? std::span<const KnownNumber>() : entries_.subspan(begin, count);
  }
  /// Hints: where the row lies will be asked for; it will be read.
  void fetch_begin(LocalNumber local) const noexcept { __builtin_prefetch(&begins_[local]); }
  void fetch(LocalNumber local) const noexcept { __builtin_prefetch(entries_.data() + begins_[local]); }

 private:
  std::vector<std::uint64_t> begins_;  ///< [local]; one more at the end
  topology::NodeMemory memory_;
  std::span<KnownNumber> entries_;
};

}  // namespace edgewire::frontier
