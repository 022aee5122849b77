#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "edgewire/numbering.h"
#include "frontier/boundary.h"
#include "graph/file/weights.h"
#include "partition/owned_rows.h"
#include "topology/worker_pool.h"

namespace edgewire::frontier {

/// The rows of the vertices that a process owns, with the numbers of the vertices that it knows: loops over
/// edges need no look at the ownership. Loops may keep a copy, which is two pointers.
class KnownRows {
 public:
  KnownRows() = default;
  /// Makes rows. `begins`: the starts of rows among the entries, [local], and the end; all outlive this.
  KnownRows(std::span<const std::uint64_t> begins, std::span<const KnownNumber> entries) noexcept
      : begins_(begins.data()), entries_(entries.data()), end_(entries.size()) {}

  std::span<const KnownNumber> operator[](LocalNumber local) const noexcept {
    return {entries_ + begins_[local], begins_[local + std::size_t{1}] - begins_[local]};
  }
  /// Returns `count` entries from the start of the row, with those of the next rows behind a shorter one:
  /// only to prefetch their targets, since they may not have been checked. None at the end of all rows.
  std::span<const KnownNumber> from(LocalNumber local, std::size_t count) const noexcept {
    return begins_[local] + count > end_ ? std::span<const KnownNumber>()
                                         : std::span(entries_ + begins_[local], count);
  }
  /// Prefetches the start of the row, and the row.
  void fetch_begin(LocalNumber local) const noexcept { __builtin_prefetch(begins_ + local); }
  void fetch(LocalNumber local) const noexcept { __builtin_prefetch(entries_ + begins_[local], 0, 2); }

 private:
  const std::uint64_t* begins_ = nullptr;
  const KnownNumber* entries_ = nullptr;
  std::uint64_t end_ = 0;
};

/// The weights of such rows, in the mapped file or beside them; or of rows without weights.
class KnownWeights {
 public:
  KnownWeights() = default;
  /// Makes weights. `begins`: the starts of rows among all weights, [local]; all outlive this.
  KnownWeights(std::span<const std::uint64_t> begins, graph::Weights all) noexcept
      : begins_(begins.data()), all_(all) {}

  /// Returns the weights of a row with `edges`; they are empty where rows have none.
  graph::Weights of(LocalNumber local, std::size_t edges) const noexcept {
    return all_.empty() ? all_ : all_.subspan(begins_[local], edges);
  }
  /// Prefetches the start of the row.
  void fetch_begin(LocalNumber local) const noexcept {
    if (!all_.empty()) __builtin_prefetch(begins_ + local);
  }

 private:
  const std::uint64_t* begins_ = nullptr;
  graph::Weights all_;
};

using partition::RowMemory;

/// Rows of known vertices in memory of their own. While they are made, Boundary::numbers() takes memory, too.
class OwnKnownRows {
 public:
  using RowOf = std::function<std::span<const VertexId>(LocalNumber)>;

  /// Copies the rows of `owned` vertices. `row_of`: the row of an owned vertex, all of whose vertices
  /// `boundary` knows; null: this process owns all vertices.
  OwnKnownRows(std::uint32_t owned, const Boundary* boundary, topology::WorkerPool& pool,
               const RowOf& row_of);
  /// Makes rows of global ids, which become numbers in place; where ids are wider than numbers, the memory
  /// that is left over is given back. `boundary` knows them all; null: this process owns all vertices.
  OwnKnownRows(RowMemory ids, const Boundary* boundary, topology::WorkerPool& pool);
  KnownRows rows() const noexcept {
    return {memory_.begins, memory_.entries.as<const KnownNumber>().first(memory_.begins.back())};
  }

 private:
  RowMemory memory_;
};

}  // namespace edgewire::frontier
