// `--order`: which tiles a worker sweeps together, and in which order.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "exchange/exchange.h"
#include "launch/bootstrap.h"
#include "tiles/tile_order.h"
#include "topology/worker_pool.h"

namespace edgewire::job {

struct OrderOptions {
  tiles::Order order = tiles::Order::strips;
  bool choose = false;  ///< measure which one is faster; `order` does not count then
};

/// What the tiles of a process are for an order. They outlive it.
struct OrderSubject {
  const tiles::Tiles& tiles;
  std::span<const std::uint32_t> column_bounds;
  std::span<const int> column_nodes;  ///< [local column]
  std::uint32_t sources = 0;
};

struct OrderChoice {
  tiles::TileOrder tiles;
  tiles::Order order = tiles::Order::strips;  ///< the same in all processes
  std::string reason;                         ///< one line; empty when nothing was to be chosen
};

/// The Hilbert order is chosen if it is faster by a twentieth over all processes: each sweeps a sample of its
/// groups in either order. Collective where there is something to choose.
OrderChoice order_tiles(const OrderOptions& options, const OrderSubject& subject,
                        const exchange::Exchange& exchange, launch::Bootstrap& bootstrap,
                        topology::WorkerPool& pool);

}  // namespace edgewire::job
