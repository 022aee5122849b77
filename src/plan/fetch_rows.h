// Rows that lie anywhere in the file are asked for before they are read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "graph/graph_file.h"

namespace edgewire::plan {

/// Asks for the first lines of a row; the processor sees the rest of a long one coming.
inline void fetch_row(std::span<const std::uint32_t> row) noexcept {
  constexpr std::size_t kLine = 64 / sizeof(std::uint32_t), kLines = 8;
  for (std::size_t i = 0; i < std::min(row.size(), kLines * kLine); i += kLine)
    __builtin_prefetch(row.data() + i, 0, 2);
}

/// Asks for the rows of the vertices, side by side.
inline void fetch_rows(const graph::GraphFile& graph, std::span<const std::uint32_t> vertices) noexcept {
  const auto offsets = graph.offsets();
  for (const auto v : vertices)
    fetch_row(graph.targets().subspan(offsets[v], offsets[v + std::size_t{1}] - offsets[v]));
}

}  // namespace edgewire::plan
