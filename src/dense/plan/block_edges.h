// The edges that a process holds, or that it computes, when processes own blocks of edges.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "dense/plan/count.h"
#include "dense/plan/edge_partition.h"
#include "edgewire/detail/page_vector.h"
#include "edgewire/graph.h"
#include "edgewire/numbering.h"

namespace edgewire::plan {

/// Edges by source. Rows are not empty; their targets ascend, and equal edges follow each other.
struct BlockEdges {
  std::vector<VertexId> sources;           ///< sources, ascending, each once
  std::vector<std::uint64_t> ends{0};      ///< ends of rows; row i has the edges [ends[i], ends[i + 1])
  topology::PageVector<VertexId> targets;  ///< targets, [edge]
  topology::PageVector<double> weights;    ///< weights, [edge]; empty where they are not asked for

  std::uint64_t edges() const noexcept { return targets.size(); }
  /// Adds an edge behind all others.
  void add(VertexId source, VertexId target) {
    if (sources.empty() || sources.back() != source) {
      sources.push_back(source);
      ends.push_back(ends.back());
    }
    targets.push_back(target);
    ++ends.back();
  }
  void add(VertexId source, VertexId target, double weight) {
    add(source, target);
    weights.push_back(weight);
  }
  /// Adds a whole row of `from` behind all others. Its source must not be there yet.
  void add_row(const BlockEdges& from, std::size_t i) {
    const auto begin = static_cast<std::ptrdiff_t>(from.ends[i]),
               end = static_cast<std::ptrdiff_t>(from.ends[i + 1]);
    sources.push_back(from.sources[i]);
    targets.insert(targets.end(), from.targets.begin() + begin, from.targets.begin() + end);
    if (!from.weights.empty())
      weights.insert(weights.end(), from.weights.begin() + begin, from.weights.begin() + end);
    ends.push_back(targets.size());
  }
  /// Returns the targets of a row.
  std::span<const VertexId> row(std::size_t i) const noexcept {
    return {targets.data() + ends[i], targets.data() + ends[i + 1]};
  }
};

/// Returns the edges that the processes [first, last) hold, by [process - first]. It reads the rows of
/// EdgePartition::sources_of(), which are verified, in about `pieces` pieces. `weights`: those of the edges
/// of `rows`, or empty.
std::vector<BlockEdges> read_blocks(const Rows& rows, graph::Weights weights, const EdgePartition& partition,
                                    std::uint32_t first, std::uint32_t last, std::uint64_t pieces,
                                    const ForEach& for_each);

/// Returns the edges of all parts.
BlockEdges unite(std::span<const BlockEdges> parts);

}  // namespace edgewire::plan
