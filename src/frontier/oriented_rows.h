// A graph without directions, whose every edge is kept once: at the end that has fewer edges. Then no row is
// long, whatever the degrees are: with m edges none has more than sqrt(2 m) entries (Chiba, Nishizeki:
// "Arboricity and subgraph listing algorithms", 1985).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph_file.h"

namespace edgewire::frontier {

/// Vertices have new numbers, in the order of their degrees: 0 is the one with most edges. (Where no vertex
/// has many edges they keep their old ones, so that the rows of a simple symmetric file can stay where they
/// are.) The row of a vertex holds its neighbours with smaller numbers, ascending, each once; no vertex is
/// its own neighbour.
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
  /// Whether numbers are in the order of degrees.
  bool by_degree() const noexcept { return own_entries_ != nullptr; }
  /// The memory of all rows has room for so many.
  std::uint64_t entries() const noexcept { return heads_.back().begin; }
  std::uint32_t number_of(VertexId vertex) const noexcept { return number_of_[vertex]; }
  VertexId vertex_of(std::uint32_t number) const noexcept { return vertex_of_[number]; }
  std::span<const std::uint32_t> row(std::uint32_t number) const noexcept {
    return {entries_ + heads_[number].begin, heads_[number].length};
  }
  /// For each entry of the row 1 if edges lead both ways, else 0. Not for symmetric graphs, where all do.
  std::span<const std::uint8_t> both_ways(std::uint32_t number) const noexcept {
    return {both_ways_.get() + heads_[number].begin, heads_[number].length};
  }
  /// How many neighbours the vertex has, with smaller and larger numbers.
  std::uint32_t degree(std::uint32_t number) const noexcept { return heads_[number].degree; }

  /// Hints: row(number) will be asked for; its entries will be read.
  void prefetch_head(std::uint32_t number) const noexcept { __builtin_prefetch(&heads_[number]); }
  void prefetch_entries(std::uint32_t number) const noexcept {
    __builtin_prefetch(entries_ + heads_[number].begin);
  }

 private:
  class Builder;

  NumberedBy<VertexId, std::vector<std::uint32_t>> number_of_;
  std::vector<VertexId> vertex_of_;
  struct Head {
    std::uint64_t begin;           ///< of the row, in both arrays of entries
    std::uint32_t length, degree;  ///< of the row; of the vertex
  };

  std::vector<Head> heads_;  ///< [number]; one more at the end
  const std::uint32_t* entries_ = nullptr;
  std::unique_ptr<std::uint32_t[]> own_entries_;  ///< empty where entries_ are the targets in the file
  std::unique_ptr<std::uint8_t[]> both_ways_;
};

}  // namespace edgewire::frontier
