// `--order`: which tiles a worker sweeps together, and in which order.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/rooms.h"
#include "edgewire/detail/tile_order.h"
#include "topology/machine.h"

namespace edgewire::job {

struct OrderOptions {
  tiles::Order order = tiles::Order::strips;
  bool choose = false;  ///< whether to measure which one is faster; `order` does not count then
};

/// Returns the most columns of a group of the Hilbert order, 2 to 8. `workers`: those of the machine, which
/// share its level-3 cache. `source_bytes`: all bytes that the tiles read; `column_bytes`: the accumulators
/// of the widest column.
///
/// Sources that fit into the last cache cost little when they are read again for each group, so a group's
/// accumulators stay in half of the second one. Other sources come from memory once for each group, so groups
/// are larger: their accumulators take half of the worker's share of the last cache. (Zen 4, Kronecker 24:
/// groups of 2 to 8 columns took the same time, larger ones more. Xeon: perf/results/README.md.)
std::size_t columns_together(const topology::Machine& machine, std::uint64_t workers,
                             std::uint64_t source_bytes, std::uint64_t column_bytes) noexcept;

/// Returns whether bins for `thin_edges`, with their values, take at most half of what a process has left.
bool bins_fit(std::uint64_t thin_edges, std::uint64_t available_bytes) noexcept;

/// The seconds of all tiles by tiles::Order. Infinite: one process at least cannot take this order.
using OrderSeconds = std::array<double, tiles::kOrders>;
/// Returns strips, unless another order is faster by 8 %.
tiles::Order fastest_order(const OrderSeconds& seconds) noexcept;
/// Returns one line, which begins with the chosen order.
std::string order_reason(tiles::Order chosen, const OrderSeconds& seconds);

}  // namespace edgewire::job
