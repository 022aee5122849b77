// A graph without directions, whose every edge is kept once: at the end that has fewer edges. Then no row is
// long, whatever the degrees are: with m edges none has more than sqrt(2 m) entries (Chiba, Nishizeki:
// "Arboricity and subgraph listing algorithms", 1985).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "frontier/boundary.h"
#include "frontier/frontier_job.h"

namespace edgewire::frontier {

/// The vertices that a process knows have numbers in the order of their degrees: 0 is the one with most
/// edges. On a tie the owner decides, then the local number there: any two processes have the vertices that
/// both know in the same order. (Where one process owns a graph without long rows, vertices keep their ids,
/// so that the rows of a simple symmetric file can stay where they are.) The row of a vertex holds its
/// neighbours with smaller numbers, ascending, each once; no vertex is its own neighbour. A boundary vertex
/// has a row while somebody lends one.
class OrientedRows {
 public:
  /// Runs work(worker, index) for each index below `count`, on all workers.
  using ForEach = std::function<void(std::uint64_t count,
                                     const std::function<void(int worker, std::uint64_t index)>& work)>;

  /// Reads the rows of the owned vertices; where the graph is not symmetric they come as InRows, too. Memory:
  /// 24 bytes for each known vertex, and 4 for each entry, 5 where the graph is not symmetric; while this is
  /// built also that of InRows, and a byte for each worker and known vertex. `job` outlives it. Collective;
  /// throws Error.
  OrientedRows(FrontierJob& job, const ForEach& for_each);

  /// There are numbers below it.
  std::uint32_t known() const noexcept { return static_cast<std::uint32_t>(known_of_.size()); }
  /// Whether numbers are in the order of degrees.
  bool by_degree() const noexcept { return by_degree_; }
  /// Of the rows of owned vertices.
  std::uint64_t entries() const noexcept { return entries_; }
  /// As in boundary(); with one process they are the ids.
  std::uint32_t number_of(KnownNumber known) const noexcept { return number_of_[known]; }
  KnownNumber known_of(std::uint32_t number) const noexcept { return known_of_[number]; }
  bool owns(std::uint32_t number) const noexcept { return known_of_[number] < owned_; }
  /// Where there are several processes: of edges in both directions.
  const Boundary& boundary() const noexcept { return neighbours_ ? *neighbours_ : job_.boundary(); }

  std::span<const std::uint32_t> row(std::uint32_t number) const noexcept {
    return {heads_[number].entries, heads_[number].length};
  }
  /// For each entry of the row 1 if edges lead both ways, else 0. Not for symmetric graphs, where all do.
  std::span<const std::uint8_t> both_ways(std::uint32_t number) const noexcept {
    if (heads_[number].length == 0) return {};
    const Head& head = heads_[number];
    const auto* const own = reinterpret_cast<const std::uint8_t*>(head.entries + head.length);
    return {head.degree > 0 ? own : lent_both_ways_ + (head.entries - lent_entries_), head.length};
  }
  /// How many neighbours an owned vertex has, with smaller and larger numbers; of a boundary vertex 0.
  std::uint32_t degree(std::uint32_t number) const noexcept { return heads_[number].degree; }

  /// From here on lend() is for rows in this memory. `both_ways`: of each entry; null for symmetric graphs.
  void lend_from(const std::uint32_t* entries, const std::uint8_t* both_ways) noexcept {
    lent_entries_ = entries;
    lent_both_ways_ = both_ways;
  }
  /// The row of a boundary vertex; empty: it has none any more. Its memory is the lender's.
  void lend(std::uint32_t number, std::span<const std::uint32_t> row) noexcept {
    heads_[number] = {row.data(), static_cast<std::uint32_t>(row.size()), 0};
  }

  /// Hints: row(number) will be asked for; its entries will be read.
  void prefetch_head(std::uint32_t number) const noexcept { __builtin_prefetch(&heads_[number]); }
  void prefetch_entries(std::uint32_t number) const noexcept { __builtin_prefetch(heads_[number].entries); }

 private:
  class Builder;
  struct Head {
    const std::uint32_t* entries;  ///< of the row
    std::uint32_t length, degree;  ///< of the row; of the vertex
  };

  FrontierJob& job_;
  std::uint32_t owned_;
  std::optional<Boundary> neighbours_;
  NumberedBy<KnownNumber, std::vector<std::uint32_t>> number_of_;
  std::vector<KnownNumber> known_of_;
  std::vector<Head> heads_;  ///< [number]
  std::uint64_t entries_ = 0;
  bool by_degree_ = false;
  /// Rows of owned vertices, piece by piece; empty where rows are those of the file.
  std::vector<std::unique_ptr<std::uint32_t[]>> own_;
  const std::uint32_t* lent_entries_ = nullptr;
  const std::uint8_t* lent_both_ways_ = nullptr;
};

}  // namespace edgewire::frontier
