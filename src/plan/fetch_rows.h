// Prefetches rows that are scattered over the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "graph/graph_file.h"

namespace edgewire::plan {

/// Prefetches the start of each vertex's row, all rows at the same time. The processor itself prefetches the
/// rest of long rows.
inline void fetch_rows(const graph::GraphFile& graph, std::span<const VertexId> vertices) noexcept {
  constexpr std::uint64_t kLine = 64 / sizeof(VertexId), kLines = 8;
  const auto offsets = graph.offsets();
  const VertexId* const targets = graph.targets().data();
  for (const auto v : vertices) {
    const std::uint64_t end = std::min(offsets[v + std::size_t{1}], offsets[v] + kLines * kLine);
    for (std::uint64_t e = offsets[v]; e < end; e += kLine) __builtin_prefetch(targets + e, 0, 2);
  }
}

}  // namespace edgewire::plan
