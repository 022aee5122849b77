#pragma once

#include "base/numbering.h"
#include "graph/graph_file.h"

namespace edgewire::graph {

/// The out-edges of a vertex: straight from the mapped file, or from where a process keeps them.
class Row {
 public:
  const GraphFile& graph;
  VertexId vertex;

  Row(const GraphFile& file, VertexId v) noexcept
      : Row(file, v, file.offsets()[v], file.offsets()[v + std::size_t{1}], file.targets().data(),
            file.weights()) {}
  /// Takes edges [begin, end) of all those that lie at `targets`, with `weights`, which are empty where the
  /// graph has none.
  Row(const GraphFile& file, VertexId v, std::uint64_t begin, std::uint64_t end, const VertexId* targets,
      const Weights& weights) noexcept
      : graph(file), vertex(v), begin_(begin), end_(end), targets_(targets), weights_(weights) {}

  std::uint64_t degree() const noexcept { return end_ - begin_; }
  std::span<const VertexId> targets() const noexcept { return {targets_ + begin_, degree()}; }
  /// Returns the weights, which are empty when the graph has none.
  Weights weights() const noexcept {
    return weights_.empty() ? Weights() : weights_.subspan(begin_, degree());
  }
  /// Fetches the place where the targets begin into the cache. The processor itself fetches on from there.
  void fetch() const noexcept { __builtin_prefetch(targets_ + begin_, 0, 2); }
  /// Returns the sum of the weights, by which a vertex divides its value to share it. `floats`: the shares
  /// are floats. Throws Error when a weight is negative, or when a share might not fit a float or double.
  double weight_sum(bool floats) const;

 private:
  std::uint64_t begin_, end_;
  const VertexId* targets_;
  Weights weights_;
};

}  // namespace edgewire::graph
