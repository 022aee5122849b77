// A graph without directions, whose every edge is kept once: at the end that has fewer edges. Then no row is
// long, whatever the degrees are: with m edges none has more than sqrt(2 m) entries (Chiba, Nishizeki:
// "Arboricity and subgraph listing algorithms", 1985).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph_file.h"

namespace edgewire::frontier {

/// Vertices have new numbers, in the order of their degrees: 0 is the one with most edges. The row of a
/// vertex holds its neighbours with smaller numbers, ascending, each once; no vertex is its own neighbour.
class OrientedRows {
 public:
  /// Runs work(worker, index) for each index below `count`, on all workers.
  using ForEach = std::function<void(std::uint64_t count,
                                     const std::function<void(int worker, std::uint64_t index)>& work)>;

  /// Reads the whole file. Memory: 24 bytes for each vertex, and 4 for each pair of neighbours; where the
  /// graph is not symmetric 8 more for each vertex, and 5 for each edge. Throws Error when the file is
  /// damaged.
  OrientedRows(const graph::GraphFile& graph, const ForEach& for_each);

  std::uint32_t vertices() const noexcept { return static_cast<std::uint32_t>(vertex_of_.size()); }
  std::uint32_t number_of(std::uint32_t vertex) const noexcept { return number_of_[vertex]; }
  std::uint32_t vertex_of(std::uint32_t number) const noexcept { return vertex_of_[number]; }
  std::span<const std::uint32_t> row(std::uint32_t number) const noexcept {
    return {entries_.get() + begin_[number], length_[number]};
  }
  /// For each entry of the row 1 if edges lead both ways, else 0. Not for symmetric graphs, where all do.
  std::span<const std::uint8_t> both_ways(std::uint32_t number) const noexcept {
    return {both_ways_.get() + begin_[number], length_[number]};
  }
  /// How many neighbours the vertex has, with smaller and larger numbers.
  std::uint32_t degree(std::uint32_t number) const noexcept {
    return degree_[number].load(std::memory_order_relaxed);
  }

 private:
  class Builder;

  std::vector<std::uint32_t> number_of_, vertex_of_;
  std::vector<std::uint64_t> begin_;   ///< [number]: of the row, in the two arrays of entries
  std::vector<std::uint32_t> length_;  ///< [number]
  std::unique_ptr<std::uint32_t[]> entries_;
  std::unique_ptr<std::uint8_t[]> both_ways_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> degree_;
};

}  // namespace edgewire::frontier
