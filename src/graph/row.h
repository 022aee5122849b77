#pragma once

#include "base/numbering.h"
#include "graph/graph_file.h"

namespace edgewire::graph {

/// The out-edges of a vertex, straight from the mapped file.
struct Row {
  const GraphFile& graph;
  VertexId vertex;

  std::uint64_t degree() const noexcept { return end() - begin(); }
  std::span<const VertexId> targets() const noexcept { return graph.targets().subspan(begin(), degree()); }
  /// Empty when the graph has none.
  Weights weights() const noexcept {
    return graph.weighted() ? graph.weights().subspan(begin(), degree()) : Weights();
  }
  /// Into the cache: where the targets begin. The processor itself fetches on from there.
  void fetch() const noexcept { __builtin_prefetch(graph.targets().data() + begin(), 0, 2); }
  /// Sum of the weights, by which a vertex divides its value to share it. `floats`: the shares are floats.
  /// Throws Error when a weight is negative, or when a share might not fit a float or double.
  double weight_sum(bool floats) const;

 private:
  std::uint64_t begin() const noexcept { return graph.offsets()[vertex]; }
  std::uint64_t end() const noexcept { return graph.offsets()[vertex + std::size_t{1}]; }
};

}  // namespace edgewire::graph
