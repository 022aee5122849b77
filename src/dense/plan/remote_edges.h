// A loop over the edges that leave a process, for code that needs no special order.
#pragma once

#include <cstdint>

#include "partition/owned_rows.h"
#include "partition/ownership.h"

namespace edgewire::plan {

/// Calls edge(local, place) for each edge from the vertices of `rank` with local numbers [first, last) to a
/// vertex that `rank` does not own. `place`: of the target. The order is that of local numbers, so rows
/// are read from front to back.
template <class Edge>
void visit_remote_edges(const partition::OwnedRows& rows, const partition::Ownership& ownership,
                        std::uint32_t rank, std::uint32_t first, std::uint32_t last, const Edge& edge) {
  ownership.visit([&](const auto& scheme) {
    for (LocalNumber local(first); local < last; ++local) {
      const VertexId v = scheme.vertex(rank, local);
      for (const VertexId target : rows.row(v)) {
        const partition::Place place = scheme.place(target);
        if (place.owner != rank) edge(local, place);
      }
    }
  });
}

}  // namespace edgewire::plan
