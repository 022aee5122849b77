// This file finds the triangles of a vertex.
#include <algorithm>
#include <utility>

#include "base/rooms.h"
#include "edgewire/detail/cpu_level.h"
#include "kernels/lcc/lcc.h"

namespace edgewire::kernels {

namespace {

/// The number of bits that are looked up in the time of an entry of a row.
constexpr std::size_t kBitsForEntry = 8;

/// The number of entries below which two rows are merged.
constexpr std::size_t kMergedEntries = 16;

// Three ways to find the entries that two rows share. Each returns their number. Where they are credited, the
// first two add 1 to `credits` at the places of these entries, the third in their marks.

/// Merges both rows, which ascend.
template <bool kCredited>
std::uint32_t merge(OrientedRows::Row row, OrientedRows::Row other, std::uint32_t* credits) {
  std::uint32_t found = 0;
  for (std::size_t i = 0, j = 0; i < row.size() && j < other.size();) {
    const std::uint32_t a = row[i], b = other[j];
    if (a == b) {
      if constexpr (kCredited) ++credits[i];
      ++found;
    }
    i += a <= b ? 1 : 0;
    j += b <= a ? 1 : 0;
  }
  return found;
}

template <bool kCredited>
inline std::uint32_t add_each_bit(OrientedRows::Row row, const std::uint32_t* words,
                                  std::uint32_t* __restrict credits) {
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::uint32_t bit = words[row[i] / 32] >> row[i] % 32 & 1;
    if constexpr (kCredited) credits[i] += bit;
    found += bit;
  }
  return found;
}

/// Looks up all entries of a row in the bits of the other one. It uses gathers, where the processor has some:
/// the words are in the caches.
template <bool kCredited>
std::uint32_t add_bits(OrientedRows::Row row, const std::uint32_t* words, std::uint32_t* credits) {
  return topology::run_for_cpu([=] { return add_each_bit<kCredited>(row, words, credits); });
}

/// Looks up all entries of the other row, where those of the row are marked.
template <bool kCredited>
std::uint32_t look_up(std::vector<NeighbourMark>& marks, OrientedRows::Row other) {
  std::uint32_t found = 0;
  for (const std::uint32_t w : other) {
    const std::uint32_t is_neighbour = marks[w].is_neighbour();
    if constexpr (kCredited) marks[w].add_credit(is_neighbour);
    found += is_neighbour;
  }
  return found;
}

/// Returns the places in a row of those entries that may be in the batch, [first, last).
std::pair<std::size_t, std::size_t> places_of(OrientedRows::Row row, const RowBatch& batch) {
  if (batch.with_owned) return {0, row.size()};
  const auto first = std::lower_bound(row.begin(), row.end(), batch.first);
  const auto last = std::lower_bound(first, row.end(), batch.last);
  return {first - row.begin(), last - row.begin()};
}

}  // namespace

/// Finds the triangles of a graph without its directions: for each neighbour v of u, those of the neighbours
/// before v that are in the row of v. No other ones can exist. The bits of a hub v are looked up, short rows
/// are merged, and else the row of v is looked up among the marked neighbours of u.
template <bool kCredited>
void Lcc::find_triangles(Worker& worker, std::uint32_t u, const RowBatch& batch) {
  const auto [first, last] = places_of(rows_->row(u), batch);
  if (first == last) return;
  const Row row = rows_->row(u).first(last);
  if constexpr (kCredited) worker.row_credits.assign(row.size(), 0);
  std::uint32_t* const credits = worker.row_credits.data();
  std::uint64_t triangles = 0;
  bool marked = false;
  for (std::size_t i = std::max<std::size_t>(first, 1); i < row.size(); ++i) {
    const std::uint32_t v = row[i];
    const Row row_of_v = rows_->row(v, batch);
    if (row_of_v.empty()) continue;
    std::uint32_t found = 0;
    if (i + row_of_v.size() < kMergedEntries) {
      found = merge<kCredited>(row.first(i), row_of_v, credits);
      worker.edges += i + row_of_v.size();
    } else if (v < hubs_->hubs() && i <= kBitsForEntry * row_of_v.size()) {
      found = add_bits<kCredited>(row.first(i), hubs_->words(v), credits);
      worker.edges += i;
    } else {
      if (!marked) mark(worker, row, {});
      marked = true;
      found = look_up<kCredited>(worker.marks, row_of_v);
      worker.edges += row_of_v.size();
    }
    if constexpr (kCredited) credits[i] += found;
    triangles += found;
  }
  worker.triangles += triangles;
  if constexpr (kCredited) {
    for (std::size_t i = 0; i < row.size() && triangles > 0; ++i) add_credit(row[i], credits[i]);
    add_credit(u, triangles);
  }
  if (marked) unmark(worker, row);
}

/// Does the same where edges have a direction. A corner of a triangle is credited the edges between the two
/// others, one or two.
void Lcc::find_directed_triangles(Worker& worker, std::uint32_t u, const RowBatch& batch) {
  const auto [first, last] = places_of(rows_->row(u), batch);
  if (first == last) return;
  const Row row = rows_->row(u).first(last);
  const auto both_ways = rows_->both_ways(u);
  mark(worker, row, both_ways);
  NeighbourMark* const marks = worker.marks.data();
  std::uint64_t edges_v_w = 0;
  for (std::size_t i = first; i < row.size(); ++i) {
    const std::uint32_t v = row[i];
    const Row row_of_v = rows_->row(v, batch);
    if (row_of_v.empty()) continue;
    const auto v_w_both_ways = rows_->both_ways(v);
    const std::uint32_t edges_u_v = std::uint32_t{1} + both_ways[i];
    std::uint32_t found = 0, edges_u_w = 0;
    for (std::size_t j = 0; j < row_of_v.size(); ++j) {
      NeighbourMark& w = marks[row_of_v[j]];
      const std::uint32_t is_neighbour = w.is_neighbour();
      found += is_neighbour;
      edges_u_w += is_neighbour + w.both_ways();
      edges_v_w += is_neighbour * (std::uint32_t{1} + v_w_both_ways[j]);
      w.add_credit(is_neighbour * edges_u_v);
    }
    marks[v].add_credit(edges_u_w);
    worker.triangles += found;
    worker.edges += row_of_v.size();
  }
  unmark(worker, row);
  add_credit(u, edges_v_w);
}

/// Marks the entries of a row. `both_ways`: the flag of each, see OrientedRows::both_ways(); or empty.
void Lcc::mark(Worker& worker, Row row, std::span<const std::uint8_t> both_ways) const {
  if (worker.marks.empty()) worker.marks.resize(rows_->known());
  for (std::size_t i = 0; i < row.size(); ++i)
    worker.marks[row[i]] = NeighbourMark(!both_ways.empty() && both_ways[i] != 0);
}

/// Clears the marks of the row and hands over their credit.
void Lcc::unmark(Worker& worker, Row row) {
  for (const std::uint32_t v : row) add_credit(v, std::exchange(worker.marks[v], {}).credit());
}

template void Lcc::find_triangles<false>(Worker&, std::uint32_t, const RowBatch&);
template void Lcc::find_triangles<true>(Worker&, std::uint32_t, const RowBatch&);

}  // namespace edgewire::kernels
