// Rows that lie anywhere in the file are asked for before they are read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "graph/graph_file.h"

namespace edgewire::plan {

/// Asks for the rows of the vertices, side by side; the processor sees the rest of long ones coming.
inline void fetch_rows(const graph::GraphFile& graph, std::span<const std::uint32_t> vertices) noexcept {
  constexpr std::uint64_t kLine = 64 / sizeof(std::uint32_t), kLines = 8;
  const auto offsets = graph.offsets();
  const std::uint32_t* const targets = graph.targets().data();
  for (const auto v : vertices) {
    const std::uint64_t end = std::min(offsets[v + std::size_t{1}], offsets[v] + kLines * kLine);
    for (std::uint64_t e = offsets[v]; e < end; e += kLine) __builtin_prefetch(targets + e, 0, 2);
  }
}

}  // namespace edgewire::plan
