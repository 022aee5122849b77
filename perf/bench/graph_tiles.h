// Benchmarks of tiles give the edges of a graph in memory to the tile builder, and cut columns, by this.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "dense/plan/edge_rows.h"
#include "edgewire/detail/tile.h"
#include "partition/column_addresses.h"
#include "perf/bench/graphs.h"
#include "topology/worker_pool.h"

namespace edgewire::perf {

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
