// What the reader and the writer of GAP's serialized graphs (.sg, .wsg) share; the layout is in readers.h.
#pragma once

#include <cstdint>

namespace edgewire::graph {

/// u8 directed, i64 edges, i64 vertices.
inline constexpr std::uint64_t kGapHeaderBytes = 1 + 8 + 8;

}  // namespace edgewire::graph
