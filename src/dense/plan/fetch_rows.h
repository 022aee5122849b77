// Prefetches rows that are scattered over the file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "partition/owned_rows.h"

namespace edgewire::plan {

/// Prefetches the start of each vertex's row, all rows at the same time. The processor itself prefetches the
/// rest of long rows.
inline void fetch_rows(const partition::OwnedRows& rows, std::span<const VertexId> vertices) noexcept {
  constexpr std::uint64_t kLine = 64 / sizeof(VertexId), kLines = 8;
  const VertexId* const targets = rows.targets().data();
  for (const auto v : vertices) {
    const auto [begin, end] = rows.range(v);
    const std::uint64_t last = std::min(end, begin + kLines * kLine);
    for (std::uint64_t e = begin; e < last; e += kLine) __builtin_prefetch(targets + e, 0, 2);
  }
}

}  // namespace edgewire::plan
