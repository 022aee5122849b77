// `--layout auto`: sweeps a sample of the tiles of either order of the vertices, and takes the faster one.
#pragma once

#include <string>

#include "dense/plan/owned_vertices.h"
#include "dense/tiles/tile.h"
#include "launch/bootstrap.h"
#include "partition/owned_rows.h"
#include "partition/ownership.h"
#include "topology/worker_pool.h"

namespace edgewire::job {

struct LayoutChoice {
  plan::OwnedVertices owned;
  plan::Layout layout = plan::Layout::degree;  ///< the same in all processes
  std::string reason;                          ///< one line
};

/// Degree order, unless the given order is faster by a twentieth over all processes. Each process whose given
/// order keeps neighbours together (its edges meet in fewer tiles than by chance) builds the tiles of an
/// eighth of the edges between its own vertices in both orders, in four runs of neighbouring sources, so that
/// they are as dense as all tiles will be, and sweeps them. Collective; throws Error.
LayoutChoice choose_layout(launch::Bootstrap& bootstrap, const partition::OwnedRows& rows,
                           const partition::Ownership& ownership, topology::WorkerPool& pool,
                           const tiles::TileSizes& sizes, const ForEach& for_each);

}  // namespace edgewire::job
