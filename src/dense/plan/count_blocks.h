// Counts exactly what each process must send to each other one when processes own blocks of edges.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dense/plan/block_routes.h"
#include "dense/plan/count.h"
#include "dense/plan/edge_partition.h"
#include "dense/plan/volume.h"

namespace edgewire::plan {

/// Mirrors and partial sums between processes.
struct BlockTraffic {
  Traffic values;
  std::vector<std::uint64_t> computed_edges;  ///< by process
  std::uint64_t memory_bytes = 0;
  std::uint32_t passes = 0;  ///< over the graph
};

/// The partition with this name, `hilbert` or `grid`. Reads all rows for `hilbert`; these are verified.
EdgePartition partition_edges(std::string_view how, const Rows& rows, int processes, int threads);

/// Memory that count_blocks() needs at least: 40 bytes for each edge of a block.
std::uint64_t block_bytes(const Rows& rows, int processes) noexcept;
/// `strategy`: slots or cover. Takes as many blocks at a time as fit into the memory, with a pass over the
/// rows for each time. The values take 8 bytes each beside that, with `cover` 16. Throws Error when no block
/// fits.
BlockTraffic count_blocks(const Rows& rows, const EdgePartition& partition, Strategy strategy,
                          const CountOptions& options);

}  // namespace edgewire::plan
