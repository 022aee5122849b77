#include "plan/edge_partition.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "graph/parallel.h"
#include "plan/edge_holders.h"

namespace edgewire::plan {

namespace {

/// Which of `parts` equal shares of `total` holds the middle of the item that starts at `before`.
std::uint32_t share_of(std::uint64_t before, std::uint64_t item, std::uint64_t total, std::uint32_t parts) {
  if (total == 0) return 0;
  const auto middle = static_cast<Uint128>(before) * 2 + item;
  return std::min(parts - 1, static_cast<std::uint32_t>(middle * parts / (static_cast<Uint128>(total) * 2)));
}

std::vector<std::uint32_t> cut_into_bands(const std::vector<std::uint64_t>& weights, std::uint64_t total,
                                          std::uint32_t bands) {
  std::vector<std::uint32_t> band(weights.size());
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    band[i] = share_of(before, weights[i], total, bands);
    before += weights[i];
  }
  return band;
}

}  // namespace

std::uint64_t hilbert_position(std::uint32_t x, std::uint32_t y, unsigned bits) noexcept {
  std::uint64_t position = 0;
  for (unsigned bit = bits; bit-- > 0;) {
    const std::uint32_t half_x = x >> bit & 1;
    const std::uint32_t half_y = y >> bit & 1;
    position = position << 2 | (3 * half_x ^ half_y);
    if (half_y == 0) {
      if (half_x == 1) {
        x = ~x;
        y = ~y;
      }
      std::swap(x, y);
    }
  }
  return position;
}

Cells::Cells(const Rows& rows, int threads) {
  const auto vertex_bits =
      rows.vertices() > 1 ? static_cast<unsigned>(std::bit_width(rows.vertices() - 1)) : 0;
  side_bits_ = std::min(kMostSideBits, vertex_bits);
  shift_ = vertex_bits - side_bits_;
  const std::size_t size = std::size_t{1} << 2 * side_bits_;
  std::vector<std::vector<std::uint64_t>> counts(static_cast<std::size_t>(threads));
  for (auto& mine : counts) mine.resize(size);
  std::atomic<std::uint64_t> next{0};  // a ticket: orders nothing else
  graph::run_workers(threads, [&](int thread) {
    auto& mine = counts[static_cast<std::size_t>(thread)];
    for (std::uint64_t row = 0; (row = next.fetch_add(1, std::memory_order_relaxed)) < side();) {
      const std::uint64_t first = std::min(rows.vertices(), row << shift_);
      const std::uint64_t last = std::min(rows.vertices(), (row + 1) << shift_);
      for (std::uint64_t e = rows.offsets[first]; e < rows.offsets[last]; ++e) {
        ++mine[(row << side_bits_) + (rows.targets[e] >> shift_)];
      }
    }
  });
  counts_ = std::move(counts.front());
  for (std::size_t thread = 1; thread < counts.size(); ++thread) {
    for (std::size_t i = 0; i < size; ++i) counts_[i] += counts[thread][i];
  }
}

EdgePartition EdgePartition::hilbert(const Cells& cells, int processes) {
  EdgePartition partition(cells, processes);
  std::vector<std::uint32_t> along(partition.holders_.size());  // cell by position on the curve
  std::vector<std::uint64_t> weights(along.size());
  std::uint64_t total = 0;
  for (std::uint32_t row = 0; row < cells.side(); ++row) {
    for (std::uint32_t column = 0; column < cells.side(); ++column) {
      const auto at = hilbert_position(column, row, cells.side_bits());
      along[at] = (row << cells.side_bits()) + column;
      weights[at] = cells.edges(row, column);
      total += weights[at];
    }
  }
  const auto band = cut_into_bands(weights, total, static_cast<std::uint32_t>(processes));
  for (std::size_t at = 0; at < along.size(); ++at) {
    partition.holders_[along[at]] = static_cast<std::uint16_t>(band[at]);
  }
  return partition;
}

EdgePartition EdgePartition::grid(const Cells& cells, int processes) {
  EdgePartition partition(cells, processes);
  std::uint32_t row_bands = 1;
  for (std::uint32_t r = 1; r * r <= static_cast<std::uint32_t>(processes); ++r) {
    if (static_cast<std::uint32_t>(processes) % r == 0) row_bands = r;
  }
  const std::uint32_t column_bands = static_cast<std::uint32_t>(processes) / row_bands;
  std::vector<std::uint64_t> row_weights(cells.side());
  std::vector<std::uint64_t> column_weights(cells.side());
  std::uint64_t total = 0;
  for (std::uint32_t row = 0; row < cells.side(); ++row) {
    for (std::uint32_t column = 0; column < cells.side(); ++column) {
      row_weights[row] += cells.edges(row, column);
      column_weights[column] += cells.edges(row, column);
      total += cells.edges(row, column);
    }
  }
  const auto row_band = cut_into_bands(row_weights, total, row_bands);
  const auto column_band = cut_into_bands(column_weights, total, column_bands);
  for (std::uint32_t row = 0; row < cells.side(); ++row) {
    for (std::uint32_t column = 0; column < cells.side(); ++column) {
      partition.holders_[(std::size_t{row} << cells.side_bits()) + column] =
          static_cast<std::uint16_t>(row_band[row] * column_bands + column_band[column]);
    }
  }
  return partition;
}

PartitionedTraffic count_partitioned(const Rows& rows, const EdgePartition& partition,
                                     const CountOptions& options) {
  PartitionedTraffic result{.values = Traffic(partition.processes()), .computed_edges = {}};
  const auto cost =
      visit_holders(rows, partition, options,
                    [&](std::uint32_t, std::uint64_t owner, const ProcessSet& out, const ProcessSet& in) {
                      out.for_each([&](std::uint64_t p) { ++result.values.at(owner, p); });
                      in.for_each([&](std::uint64_t p) { ++result.values.at(p, owner); });
                    });
  result.computed_edges = cost.computed_edges;
  result.memory_bytes = cost.memory_bytes;
  result.passes = cost.passes;
  return result;
}

}  // namespace edgewire::plan
