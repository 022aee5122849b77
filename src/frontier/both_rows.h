// The rows of edges out of vertices and to them, in one numbering.
#pragma once

#include <optional>
#include <span>

#include "edgewire/numbering.h"
#include "frontier/boundary.h"
#include "frontier/frontier_job.h"
#include "frontier/known_rows.h"

namespace edgewire::frontier {

class InRows;

/// Makes the boundary that has all vertices at the ends of a process's edges in both directions; it makes
/// none where that is the only process. The boundary of the job has only vertices that edges lead to.
/// Collective, while workers rest; throws Error.
void make_boundary_of_both(Job& job, const InRows& in, std::optional<Boundary>& boundary);

/// The rows in both directions. Where the graph stores every edge both ways, its rows have all neighbours,
/// and rows of edges to vertices are empty.
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
