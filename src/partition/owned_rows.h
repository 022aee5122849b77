// The rows of the vertices that one process owns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "edgewire/detail/memory.h"
#include "edgewire/graph.h"
#include "partition/ownership.h"

namespace edgewire::partition {

/// The memory of the rows of owned vertices: an id or a number for each entry, and 8 bytes for each vertex.
struct RowMemory {
  std::vector<std::uint64_t> begins;  ///< starts of rows among the entries, [local], and the end
  topology::NodeMemory entries;
};

/// The place of a row's edges among others: [begin, end).
struct EdgeRange {
  std::uint64_t begin, end;
};

/// Rows of owned vertices, which lie in the mapped file, or in memory where they have come from the processes
/// that have read them. A view of either: copies show the same rows, and the last one gives their memory
/// back. The graph outlives it. Const members are thread safe.
class OwnedRows {
 public:
  /// Makes rows that are in the file. Any row can be asked for that is on this host and was verified.
  OwnedRows(const Graph& graph) noexcept  // NOLINT(google-explicit-constructor): its rows
      : graph_(&graph), begins_(graph.offsets()), targets_(graph.targets()), weights_(graph.weights()) {}
  /// Makes rows in memory. `weights` are those of all entries, in the graph's type; they may be empty.
  OwnedRows(const Graph& graph, const Ownership& ownership, RowMemory rows, topology::NodeMemory weights);

  const Graph& graph() const noexcept { return *graph_; }
  bool in_file() const noexcept { return memory_ == nullptr; }

  /// Returns where the row of a vertex is among targets() and weights().
  EdgeRange range(VertexId v) const noexcept {
    const std::size_t at = place(v);
    return {begins_[at], begins_[at + 1]};
  }
  std::uint64_t degree(VertexId v) const noexcept {
    const auto [begin, end] = range(v);
    return end - begin;
  }
  /// Returns the targets of all rows, one after the other.
  std::span<const VertexId> targets() const noexcept { return targets_; }
  /// Returns the weights, likewise; empty: there are none.
  graph::Weights weights() const noexcept { return weights_; }
  graph::Row operator[](VertexId v) const noexcept {
    const auto [begin, end] = range(v);
    return {*graph_, v, begin, end, targets_.data(), weights_};
  }
  std::span<const VertexId> row(VertexId v) const noexcept {
    const auto [begin, end] = range(v);
    return targets_.subspan(begin, end - begin);
  }
  /// Prefetches the place of the row, which range() will ask for.
  void fetch_range(VertexId v) const noexcept { __builtin_prefetch(&begins_[place(v)], 0, 2); }

  /// Prefetches the start of each vertex's row. The processor itself prefetches the rest of long rows.
  void fetch(std::span<const VertexId> vertices) const noexcept {
    constexpr std::uint64_t kLine = 64 / sizeof(VertexId), kLines = 8;
    const VertexId* const targets = targets_.data();
    for (const auto v : vertices) {
      const auto [begin, end] = range(v);
      const std::uint64_t last = std::min(end, begin + kLines * kLine);
      for (std::uint64_t e = begin; e < last; e += kLine) __builtin_prefetch(targets + e, 0, 2);
    }
  }

  /// Does the same as Graph::verify_rows(). Rows in memory were verified where they were read.
  void verify(std::uint64_t first, std::uint64_t last) const {
    if (in_file()) graph_->verify_rows(first, last);
  }
  /// Lets the kernel drop the pages that hold the rows of [first, last), where rows are in the file.
  void release_pages(std::uint64_t first, std::uint64_t last) const noexcept {
    if (in_file()) graph_->release_rows(first, last);
  }
  /// Gives back the memory of targets, if there is any, for all copies: degrees and weights stay.
  void forget_targets();
  /// Gives back the memory of targets and weights, likewise.
  void forget_edges();
  /// Hands over the memory of rows in memory, for all copies: weights stay, and degrees as long as what was
  /// handed over lives.
  RowMemory take();
  /// Returns where rows in memory begin: [local], and the end.
  std::span<const std::uint64_t> begins() const noexcept { return begins_; }

 private:
  /// The memory of rows in memory.
  struct Memory {
    Ownership ownership;
    RowMemory rows;
    topology::NodeMemory weights;
  };
  std::size_t place(VertexId v) const noexcept {
    return memory_ == nullptr ? std::size_t{v} : std::size_t{memory_->ownership.home(v).local};
  }

  const Graph* graph_;
  std::shared_ptr<Memory> memory_;  ///< memory of the rows; null: they are in the file
  std::span<const std::uint64_t> begins_;
  std::span<const VertexId> targets_;
  graph::Weights weights_;
};

}  // namespace edgewire::partition
