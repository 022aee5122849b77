// The perf/bench folder has programs that measure machines, loops, rings, links and tasks, no part of
// libedgewire. This file has graphs for them: from a seed, in the shapes that kernels meet, or from a file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.h"
#include "dense/plan/edge_rows.h"
#include "edgewire/detail/tile.h"
#include "partition/column_addresses.h"
#include "topology/worker_pool.h"

namespace edgewire::perf {

/// Out-edges of v: targets[offsets[v]..offsets[v + 1]).
struct PlainGraph {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint32_t> targets;
  std::uint32_t vertices() const { return static_cast<std::uint32_t>(offsets.size() - 1); }
};

/// A graph of 2^scale vertices and about 16 edges a vertex. Shapes: "kronecker" (R-MAT with Graph500's
/// parameters, ids permuted), "uniform", "grid" (4 edges a vertex, row by row), "web" (links to near ids,
/// which are often shared, and to popular pages; in crawl order).
PlainGraph make_graph(const std::string& shape, int scale);

/// The graph of an .ew file. Throws Error with path and byte offset.
PlainGraph read_graph(const std::string& path);

/// The same graph with vertices renumbered by falling degree (in and out).
PlainGraph order_by_degree(const PlainGraph& graph);

/// The edges of a graph, for the tile builder.
class GraphReader final : public plan::EdgeReader {
 public:
  /// Column c is [bounds[c], bounds[c + 1]). The graph outlives the reader.
  GraphReader(const PlainGraph& graph, std::span<const std::uint32_t> bounds)
      : graph_(graph), address_(bounds) {}

  std::uint32_t sources() const override { return graph_.vertices(); }
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const override {
    return graph_.offsets[last] - graph_.offsets[first];
  }
  void read(std::uint32_t first, std::uint32_t last, plan::EdgeRows& rows) const override;

 private:
  const PlainGraph& graph_;
  partition::ColumnAddresses address_;
};

/// A pool of so many pinned workers.
topology::WorkerPool make_pool(int workers);

/// Cuts destinations into columns of at most kColumnWidth and a sixteenth of a worker's edges.
std::vector<std::uint32_t> cut_columns(const PlainGraph& graph, int workers);

}  // namespace edgewire::perf
