#pragma once

#include <cstdint>

#include "base/rooms.h"
#include "edgewire/detail/bins.h"
#include "topology/worker_pool.h"

namespace edgewire::tiles {

/// Returns how many edges are in thin cells. It builds nothing. `tiles` are in memory, and `sources` are
/// those that they read.
std::uint64_t count_thin_edges(topology::WorkerPool& pool, const Tiles& tiles, std::uint32_t sources);

/// Makes bins for the thin cells. `tiles` are in memory, and their edges have no weights. The bins take 4
/// bytes an edge.
Bins make_bins(topology::WorkerPool& pool, const Tiles& tiles, std::uint32_t sources);

}  // namespace edgewire::tiles
