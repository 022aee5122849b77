// A graph without directions, whose every edge is kept once: at the end that has fewer edges. Then no row is
// long, whatever the degrees are: with m edges none has more than sqrt(2 m) entries (Chiba, Nishizeki:
// "Arboricity and subgraph listing algorithms", 1985).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "frontier/boundary.h"
#include "frontier/frontier_job.h"

namespace edgewire::kernels {

/// The rows in memory at a time: of vertices [first, last), of the boundary or also of owned ones.
struct RowBatch {
  std::uint32_t first, last;
  bool with_owned;
};

/// The oriented rows of a process. The vertices that it knows have numbers in the order of their degrees: 0
/// is the one with most edges. On a tie the owner decides, then the local number there: any two processes
/// have the vertices that both know in the same order. (Where one process owns a graph without long rows,
/// vertices keep their ids, so that the rows of a simple symmetric file can stay where they are.) An edge is
/// oriented towards the smaller number: the row of a vertex, its oriented out-row, holds its neighbours with
/// smaller numbers, ascending, each once; no vertex is its own neighbour. Boundary vertices may borrow rows.
class OrientedRows {
 public:
  using Row = std::span<const std::uint32_t>;

  /// Makes the rows: reads those of the owned vertices; where the graph is not symmetric they come as InRows,
  /// too. Memory: 24 bytes for each known vertex, and 4 for each entry, 5 where the graph is not symmetric;
  /// while this is built also that of InRows, and a byte for each worker and known vertex. `job` outlives it.
  /// Collective; throws Error.
  OrientedRows(frontier::Job& job, const ForEach& for_each);

  /// Returns the number of vertices that the process knows.
  std::uint32_t known() const noexcept { return static_cast<std::uint32_t>(known_of_.size()); }
  /// Returns whether numbers are in the order of degrees.
  bool by_degree() const noexcept { return by_degree_; }
  /// Returns the number of entries of the rows of owned vertices.
  std::uint64_t entries() const noexcept { return entries_; }
  /// Returns the number of a known vertex. `known`: the number in boundary(); with one process it is the id.
  std::uint32_t number_of(KnownNumber known) const noexcept { return number_of_[known]; }
  KnownNumber known_of(std::uint32_t number) const noexcept { return known_of_[number]; }
  bool owns(std::uint32_t number) const noexcept { return known_of_[number] < owned_; }
  /// Returns the vertices at the ends of edges in both directions, where there are several processes.
  const frontier::Boundary& boundary() const noexcept { return neighbours_ ? *neighbours_ : job_.boundary(); }

  Row row(std::uint32_t number) const noexcept { return {heads_[number].entries, heads_[number].length}; }
  /// Returns the row of a vertex with a number of the batch; empty where the batch is without it.
  Row row(std::uint32_t number, const RowBatch& batch) const noexcept {
    return batch.with_owned || degree(number) == 0 ? row(number) : Row();
  }
  /// Returns, for each entry of the row, 1 if edges lead both ways, else 0. In symmetric graphs all do.
  std::span<const std::uint8_t> both_ways(std::uint32_t number) const noexcept {
    if (heads_[number].length == 0) return {};
    const Head& head = heads_[number];
    const auto* const own = reinterpret_cast<const std::uint8_t*>(head.entries + head.length);
    return {head.degree > 0 ? own : lent_both_ways_ + (head.entries - lent_entries_), head.length};
  }
  /// Returns the number of all neighbours of an owned vertex; of a boundary vertex 0.
  std::uint32_t degree(std::uint32_t number) const noexcept { return heads_[number].degree; }

  /// Sets the memory of the rows for lend(). `both_ways`: the flag of each entry; null for symmetric graphs.
  void lend_from(const std::uint32_t* entries, const std::uint8_t* both_ways) noexcept {
    lent_entries_ = entries;
    lent_both_ways_ = both_ways;
  }
  /// Gives a row to a boundary vertex, or takes it back, where it is empty. Its memory is the lender's.
  void lend(std::uint32_t number, Row row) noexcept {
    heads_[number] = {row.data(), static_cast<std::uint32_t>(row.size()), 0};
  }

  /// Prefetches the head for row(number), and the entries of the row.
  void prefetch_head(std::uint32_t number) const noexcept { __builtin_prefetch(&heads_[number]); }
  void prefetch_entries(std::uint32_t number) const noexcept { __builtin_prefetch(heads_[number].entries); }

 private:
  class Builder;
  struct Head {
    const std::uint32_t* entries;  ///< entries of the row
    std::uint32_t length, degree;  ///< numbers of entries of the row and of neighbours of the vertex
  };

  frontier::Job& job_;
  std::uint32_t owned_;
  std::optional<frontier::Boundary> neighbours_;
  NumberedBy<KnownNumber, std::vector<std::uint32_t>> number_of_;
  std::vector<KnownNumber> known_of_;
  std::vector<Head> heads_;  ///< heads, [number]
  std::uint64_t entries_ = 0;
  bool by_degree_ = false;
  /// Rows of owned vertices, piece by piece; empty where rows are those of the file.
  std::vector<std::unique_ptr<std::uint32_t[]>> own_;
  const std::uint32_t* lent_entries_ = nullptr;
  const std::uint8_t* lent_both_ways_ = nullptr;
};

/// Runs work(worker, first, last) for pieces [first, last) of the numbers below `count`, `at_once` each.
template <class Work>
void for_each_piece(const ForEach& for_each, std::uint64_t count, std::uint64_t at_once, const Work& work) {
  for_each((count + at_once - 1) / at_once, [&](int worker, std::uint64_t piece) {
    work(worker, static_cast<std::uint32_t>(piece * at_once),
         static_cast<std::uint32_t>(std::min(count, (piece + 1) * at_once)));
  });
}

}  // namespace edgewire::kernels
