// `--order`: which tiles a worker sweeps together, and in which order.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/rooms.h"
#include "edgewire/detail/tile_order.h"

namespace edgewire::job {

struct OrderOptions {
  tiles::Order order = tiles::Order::strips;
  bool choose = false;  ///< whether to measure which one is faster; `order` does not count then
};

/// The caches that a worker's groups of columns have to fit into.
struct OrderCaches {
  std::uint64_t l2_bytes = 0;
  std::uint64_t l3_bytes = 0;  ///< level-3 cache, which the host's workers share
  std::uint64_t l3_share = 0;  ///< share of one of them
};

/// Returns the most columns of a group of the Hilbert order, 2 to 8. `source_bytes`: all bytes that the tiles
/// read; `column_bytes`: the accumulators of the widest column.
///
/// Sources that fit into the last cache cost little when they are read again for each group, so a group's
/// accumulators stay in half of the second one. Other sources come from memory once for each group. Then
/// groups are larger, and their accumulators take half of the worker's share of the last cache. (Zen 4,
/// Kronecker 24: groups of 2 to 8 columns took the same time, larger ones more. Xeon:
/// perf/results/README.md.)
std::size_t columns_together(const OrderCaches& caches, std::uint64_t source_bytes,
                             std::uint64_t column_bytes) noexcept;

/// Returns whether bins for `thin_edges` take at most half of the memory that a process has left, with their
/// values in the sample and in iterations.
bool bins_fit(std::uint64_t thin_edges, std::uint64_t available_bytes) noexcept;

/// The seconds that all tiles take, by tiles::Order, of a process or the sum over all. Infinite: one process
/// at least cannot take this order.
using OrderSeconds = std::array<double, tiles::kOrders>;
/// Returns strips, unless another order is faster by 8 %.
tiles::Order fastest_order(const OrderSeconds& seconds) noexcept;
/// Returns one line, which begins with the chosen order.
std::string order_reason(tiles::Order chosen, const OrderSeconds& seconds);

}  // namespace edgewire::job
