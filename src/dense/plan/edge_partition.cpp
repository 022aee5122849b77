#include "dense/plan/edge_partition.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <tuple>

namespace edgewire::plan {

namespace {

constexpr int kCellsPerProcess = 1024;
constexpr std::uint16_t kNobody = 0xFFFF;

/// Cuts each range of cut_evenly() into the same number of strips.
std::vector<PlainId> cut_into_strips(std::span<const std::uint64_t> offsets, std::uint32_t ranges,
                                     std::uint32_t strips_each) {
  const auto bounds = partition::cut_evenly(offsets, ranges);
  std::vector<PlainId> strips{0};
  for (std::uint32_t r = 0; r < ranges; ++r) {
    const auto cuts = partition::cut_evenly(
        offsets.subspan(bounds[r], bounds[r + std::size_t{1}] - bounds[r] + std::size_t{1}), strips_each);
    for (std::uint32_t s = 1; s <= strips_each; ++s) strips.push_back(bounds[r] + cuts[s]);
  }
  return strips;
}

/// Returns which of `parts` equal shares of `total` holds the middle of the item that starts at `before`.
std::uint32_t share_of(std::uint64_t before, std::uint64_t item, std::uint64_t total, std::uint32_t parts) {
  if (total == 0) return 0;
  const auto middle = static_cast<partition::Uint128>(before) * 2 + item;
  return std::min(parts - 1,
                  static_cast<std::uint32_t>(middle * parts / (static_cast<partition::Uint128>(total) * 2)));
}

/// Gives each stretch to a process, so that processes own many ends of their edges. ends[s * parts + p]: the
/// number of ends of the edges of stretch s that process p owns. Takes the best pairs first, then exchanges
/// two stretches as long as that helps.
std::vector<std::uint16_t> match(const std::vector<std::uint64_t>& ends, std::uint32_t parts) {
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>> pairs;
  const auto at = [&](std::uint32_t s, std::uint32_t p) { return ends[std::size_t{s} * parts + p]; };
  // Largest counts first.
  for (std::uint32_t s = 0; s < parts; ++s)
    for (std::uint32_t p = 0; p < parts; ++p)
      if (at(s, p) > 0) pairs.emplace_back(~at(s, p), s, p);
  std::ranges::sort(pairs);
  std::vector<std::uint16_t> process_of(parts, kNobody);
  std::vector<bool> taken(parts);
  const auto give = [&](std::uint32_t s, std::uint32_t p) {
    if (process_of[s] != kNobody || taken[p]) return;
    process_of[s] = static_cast<std::uint16_t>(p);
    taken[p] = true;
  };
  for (const auto& [few, s, p] : pairs) give(s, p);
  for (std::uint32_t s = 0, p = 0; s < parts; ++s)
    for (; process_of[s] == kNobody; ++p) give(s, p);
  bool better = true;
  for (int round = 0; better && round < 50; ++round) {
    better = false;
    for (std::uint32_t s = 0; s < parts; ++s)
      for (std::uint32_t t = 0; t < s; ++t) {
        const std::uint32_t p = process_of[s], q = process_of[t];
        if (at(s, q) + at(t, p) <= at(s, p) + at(t, q)) continue;
        std::swap(process_of[s], process_of[t]);
        better = true;
      }
  }
  return process_of;
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

Cells::Cells(std::span<const std::uint64_t> offsets, int processes)
    : strips_each_(std::max(1U, static_cast<std::uint32_t>(std::sqrt(kCellsPerProcess / processes)))),
      side_(strips_each_ * static_cast<std::uint32_t>(processes)),
      strips_(cut_into_strips(offsets, static_cast<std::uint32_t>(processes), strips_each_)) {}

std::pair<std::uint64_t, std::uint64_t> Cells::sources_of(std::uint32_t owner) const noexcept {
  const auto begin = [&](std::uint32_t strip) {
    return std::uint64_t{strips_.vertex(strip, LocalNumber(0))};
  };
  return {begin(owner * strips_each_), begin((owner + 1) * strips_each_)};
}

std::vector<std::uint64_t> Cells::count(
    const Rows& rows, std::uint64_t first, std::uint64_t last, int pieces, const ForEach& for_each,
    const std::function<void(std::uint64_t begin, std::uint64_t end)>& verify) const {
  const auto parts = static_cast<std::uint64_t>(pieces);
  std::vector<std::vector<std::uint64_t>> counted(parts,
                                                  std::vector<std::uint64_t>(std::size_t{side_} * side_));
  for_each(parts, [&](int, std::uint64_t part) {
    const std::uint64_t begin = first + (last - first) * part / parts;
    const std::uint64_t end = first + (last - first) * (part + 1) / parts;
    verify(begin, end);
    for (std::uint64_t source = begin; source < end; ++source) {
      const std::uint32_t strip = strips_.owner(VertexId(static_cast<PlainId>(source)));
      std::uint64_t* const row = counted[part].data() + std::size_t{strip} * side_;
      for (std::uint64_t e = rows.offsets[source]; e < rows.offsets[source + 1]; ++e)
        ++row[strips_.owner(rows.targets[e])];
    }
  });
  std::vector<std::uint64_t>& edges = counted[0];
  for (std::uint64_t part = 1; part < parts; ++part)
    std::ranges::transform(edges, counted[part], edges.begin(), std::plus());
  for (std::uint32_t row = 0; row < side_; ++row)
    std::fill_n(edges.begin() + row * std::ptrdiff_t{side_} + owner(row) * strips_each_, strips_each_, 0);
  return std::move(edges);
}

std::vector<std::uint32_t> Cells::along_curve() const {
  const auto bits = static_cast<unsigned>(std::bit_width(side_ - 1));
  std::vector<std::pair<std::uint64_t, std::uint32_t>> cells;
  for (std::uint32_t row = 0; row < side_; ++row)
    for (std::uint32_t column = 0; column < side_; ++column)
      cells.emplace_back(hilbert_position(column, row, bits), row * side_ + column);
  std::ranges::sort(cells);
  std::vector<std::uint32_t> along;
  for (const auto& [position, cell] : cells) along.push_back(cell);
  return along;
}

EdgePartition EdgePartition::grid(std::span<const std::uint64_t> offsets, int processes) {
  const auto count = static_cast<std::uint32_t>(processes);
  std::uint32_t rows = 1;
  for (std::uint32_t r = 1; r * r <= count; ++r) {
    if (count % r == 0) rows = r;
  }
  const std::uint32_t columns = count / rows;
  EdgePartition partition(partition::Ownership::even_ranges(offsets, processes),
                          partition::RangeOwnership(partition::cut_evenly(offsets, count)), count);
  for (std::uint32_t source = 0; source < count; ++source)
    for (std::uint32_t destination = 0; destination < count; ++destination)
      partition.holders_[std::size_t{source} * count + destination] =
          static_cast<std::uint16_t>(source / columns * columns + destination % columns);
  return partition;
}

EdgePartition EdgePartition::hilbert(std::span<const std::uint64_t> offsets, int processes,
                                     const Cells& cells, std::span<const std::uint64_t> edges) {
  const auto parts = static_cast<std::uint32_t>(processes);
  EdgePartition partition(partition::Ownership::even_ranges(offsets, processes), cells.strips(),
                          cells.side());
  const std::uint64_t total = std::accumulate(edges.begin(), edges.end(), std::uint64_t{0});
  std::uint64_t before = 0;
  std::vector<std::uint64_t> ends(std::size_t{parts} * parts);
  for (const std::uint32_t cell : cells.along_curve()) {
    const std::uint32_t stretch = share_of(before, edges[cell], total, parts);
    partition.holders_[cell] = static_cast<std::uint16_t>(stretch);
    before += edges[cell];
    for (const std::uint32_t strip : {cell / cells.side(), cell % cells.side()})
      ends[std::size_t{stretch} * parts + cells.owner(strip)] += edges[cell];
  }
  const auto process_of = match(ends, parts);
  for (std::uint32_t cell = 0; auto& holder : partition.holders_) {
    const std::uint32_t source = cells.owner(cell / cells.side()), target = cells.owner(cell % cells.side());
    holder = source == target ? static_cast<std::uint16_t>(source) : process_of[holder];
    ++cell;
  }
  return partition;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> EdgePartition::sources_of(std::uint32_t first,
                                                                               std::uint32_t last) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (std::uint32_t strip = 0; strip < side_; ++strip) {
    const std::uint16_t* const holders = holders_.data() + std::size_t{strip} * side_;
    const bool holds =
        std::any_of(holders, holders + side_, [=](std::uint32_t p) { return p >= first && p < last; });
    if (!holds || strips_.count(strip) == 0) continue;
    const std::uint64_t begin = strips_.vertex(strip, LocalNumber(0)), end = begin + strips_.count(strip);
    if (!ranges.empty() && ranges.back().second == begin)
      ranges.back().second = end;
    else
      ranges.emplace_back(begin, end);
  }
  return ranges;
}

}  // namespace edgewire::plan
