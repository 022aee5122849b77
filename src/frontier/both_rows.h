// The edges to the vertices of a process, and the rows of edges in both directions in one numbering. The file
// has out-edges only: the owners of the sources send the in-edges.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "edgewire/numbering.h"
#include "frontier/boundary.h"
#include "frontier/frontier_job.h"
#include "frontier/known_rows.h"

namespace edgewire::frontier {

class InRows {
 public:
  /// Makes the rows: reads the rows of the owned vertices twice; they have been checked. An edge between
  /// processes travels once, as a Record. Memory: 8 bytes for each owned vertex and an id for each in-edge;
  /// meanwhile a Record for each that comes from others. Collective, while workers rest; throws Error.
  explicit InRows(Job& job);

  /// Returns the vertices with an edge to the owned vertex `local`, once for each edge, in no order.
  std::span<const VertexId> sources(LocalNumber local) const noexcept {
    const std::uint64_t first = rows_.begins[local];
    return rows_.entries.as<const VertexId>().subspan(first, rows_.begins[local + std::size_t{1}] - first);
  }
  /// Returns the memory of all rows.
  RowMemory take() && noexcept { return std::move(rows_); }

 private:
  RowMemory rows_;
};

/// Makes the boundary that has all vertices at the ends of a process's edges in both directions; it makes
/// none where that is the only process. The boundary of the job has only vertices that edges lead to.
/// Collective, while workers rest; throws Error.
void make_boundary_of_both(Job& job, const InRows& in, std::optional<Boundary>& boundary);

/// The rows in both directions. In symmetric graphs out() has all neighbours, and in() is empty.
class BothRows {
 public:
  /// Makes the rows. Memory: InRows unless the graph stores every edge both ways, and with several processes
  /// a Boundary of all neighbours and a copy of the rows. Rows are in memory. `job` outlives it. Collective,
  /// while workers rest; throws Error, and UsageError unless the job has Records.
  explicit BothRows(Job& job);

  /// Returns the boundary that has all neighbours of owned vertices.
  const Boundary& boundary() const noexcept { return *boundary_; }
  std::span<const KnownNumber> out(LocalNumber local) const noexcept { return out_[local]; }
  std::span<const KnownNumber> in(LocalNumber local) const noexcept {
    return own_in_ ? in_[local] : std::span<const KnownNumber>();
  }

 private:
  std::optional<Boundary> own_boundary_;
  std::optional<OwnKnownRows> own_out_, own_in_;
  const Boundary* boundary_ = nullptr;
  KnownRows out_, in_;
};

}  // namespace edgewire::frontier
