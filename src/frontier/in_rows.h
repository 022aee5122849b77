// The in-edges of the vertices of a process. The file has out-edges only: the owners of the sources send the
// in-edges.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "frontier/frontier_job.h"

namespace edgewire::frontier {

class InRows {
 public:
  /// Makes the rows: reads the rows of the owned vertices twice; they have been checked. An edge between
  /// processes travels once, as a Record. Memory: 8 bytes for each owned vertex and an id for each in-edge;
  /// while this is built a Record more for each that comes from another process. Collective, while workers
  /// rest; throws Error.
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

}  // namespace edgewire::frontier
