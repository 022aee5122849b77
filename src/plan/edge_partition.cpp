#include "plan/edge_partition.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "graph/parallel.h"
#include "plan/bits.h"

namespace edgewire::plan {

namespace {

constexpr std::uint64_t kBlockRows = 4096;

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

/// Which processes hold out-edges and in-edges of the vertices [first, last): one bit for each process and
/// vertex.
struct Holders {
  Holders(std::uint64_t first_vertex, std::uint64_t last_vertex, int processes)
      : first(first_vertex),
        last(last_vertex),
        words((static_cast<std::uint64_t>(processes) + 63) / 64),
        out((last - first) * words * 64),
        in((last - first) * words * 64) {}
  bool contains(std::uint64_t vertex) const noexcept { return vertex - first < last - first; }
  std::uint64_t bit(std::uint64_t vertex, std::uint64_t process) const noexcept {
    return (vertex - first) * words * 64 + process;
  }
  std::uint64_t first, last, words;
  Bits out, in;
};

void mark_holders(const Rows& rows, const EdgePartition& partition, int threads, Holders& holders,
                  std::vector<std::uint64_t>* computed) {
  const auto processes = static_cast<std::size_t>(partition.processes());
  std::vector<std::vector<std::uint64_t>> edges(static_cast<std::size_t>(threads),
                                                std::vector<std::uint64_t>(processes));
  graph::parallel_for(threads, (rows.vertices() + kBlockRows - 1) / kBlockRows,
                      [&](int thread, std::uint64_t block) {
                        auto& mine = edges[static_cast<std::size_t>(thread)];
                        const std::uint64_t end = std::min(rows.vertices(), (block + 1) * kBlockRows);
                        for (std::uint64_t source = block * kBlockRows; source < end; ++source) {
                          const std::uint16_t* const row = partition.row(static_cast<std::uint32_t>(source));
                          const bool marks_source = holders.contains(source);
                          for (std::uint64_t e = rows.offsets[source]; e < rows.offsets[source + 1]; ++e) {
                            const std::uint32_t target = rows.targets[e];
                            const std::uint16_t holder = row[target >> partition.shift()];
                            ++mine[holder];
                            if (marks_source) holders.out.set(holders.bit(source, holder));
                            if (holders.contains(target)) holders.in.set(holders.bit(target, holder));
                          }
                        }
                      });
  if (computed == nullptr) return;
  for (const auto& mine : edges) {
    for (std::size_t p = 0; p < processes; ++p) (*computed)[p] += mine[p];
  }
}

/// Calls work(process) for each bit of `word`, the word with the processes from `first` on.
template <class Work>
void each_process(std::uint64_t word, std::uint64_t first, const Work& work) {
  for (; word != 0; word &= word - 1) work(first + static_cast<unsigned>(std::countr_zero(word)));
}

constexpr std::uint64_t kNobody = ~std::uint64_t{0};

std::uint64_t choose_owner(const Holders& holders, std::uint64_t vertex,
                           const std::vector<std::uint64_t>& owned) {
  const std::uint64_t base = (vertex - holders.first) * holders.words;
  std::uint64_t best = kNobody;
  const auto consider = [&](std::uint64_t process) {
    if (best == kNobody || owned[process] < owned[best]) best = process;
  };
  for (std::uint64_t w = 0; w < holders.words; ++w) {
    each_process(holders.out.word(base + w) & holders.in.word(base + w), w * 64, consider);
  }
  if (best != kNobody) return best;
  for (std::uint64_t w = 0; w < holders.words; ++w) {
    each_process(holders.out.word(base + w) | holders.in.word(base + w), w * 64, consider);
  }
  return best;
}

void add_values(const Holders& holders, std::vector<std::uint64_t>& owned, Traffic& values) {
  for (std::uint64_t vertex = holders.first; vertex < holders.last; ++vertex) {
    const std::uint64_t owner = choose_owner(holders, vertex, owned);
    if (owner == kNobody) continue;
    ++owned[owner];
    const std::uint64_t base = (vertex - holders.first) * holders.words;
    for (std::uint64_t w = 0; w < holders.words; ++w) {
      each_process(holders.out.word(base + w), w * 64, [&](std::uint64_t p) { ++values.at(owner, p); });
      each_process(holders.in.word(base + w), w * 64, [&](std::uint64_t p) { ++values.at(p, owner); });
    }
  }
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
  graph::run_workers(threads, [&](int thread) {
    auto& mine = counts[static_cast<std::size_t>(thread)];
    mine.resize(size);
    // Rows of cells in turn, so that a thread stays on a few of them.
    for (std::uint64_t row = static_cast<std::uint64_t>(thread); row < side();
         row += static_cast<unsigned>(threads)) {
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
  PartitionedTraffic result{
      .values = Traffic(partition.processes()),
      .computed_edges = std::vector<std::uint64_t>(static_cast<std::size_t>(partition.processes()))};
  std::vector<std::uint64_t> owned(result.computed_edges.size());
  const std::uint64_t vertex_bytes = (owned.size() + 63) / 64 * 8 * 2;
  const std::uint64_t width =
      std::min(rows.vertices(), std::max<std::uint64_t>(64, options.memory_bytes / vertex_bytes));
  for (std::uint64_t first = 0; first < rows.vertices(); first += width) {
    Holders holders(first, std::min(rows.vertices(), first + width), partition.processes());
    mark_holders(rows, partition, options.threads, holders, first == 0 ? &result.computed_edges : nullptr);
    add_values(holders, owned, result.values);
    result.memory_bytes = std::max(result.memory_bytes, holders.out.bytes() + holders.in.bytes());
    ++result.passes;
  }
  return result;
}

}  // namespace edgewire::plan
