// Rows as bits. A row of 20 edges in a graph of a few million vertices takes some 2 bytes an edge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "edgewire/numbering.h"

namespace edgewire::frontier {

/// The number of bytes behind a code that decode_row() may read.
constexpr std::size_t kCodeSlack = 8;

/// Appends the code of a row that is not empty, in whole bytes. `targets` ascend, and may repeat.
///
/// The code has the gaps between targets in Rice codes (Rice, Plaunt: "Adaptive variable-length coding for
/// efficient compression of spacecraft television data", 1971): of a gap, the last k bits as they are, and
/// the rest as a number of zeros before a one. k is the row's own. In front of the first target there is the
/// gap from `vertex`, in either direction, or from 0, whichever is least.
void encode_row(VertexId vertex, std::span<const VertexId> targets, std::vector<std::byte>& code);

/// Sets `targets`, at least one, to those of the row, or to the first ones, where the row has `more`. Returns
/// false when `code` is no code of as many targets that are all below `vertices`.
bool decode_row(VertexId vertex, std::span<const std::byte> code, std::uint64_t vertices,
                std::span<VertexId> targets, bool more = false) noexcept;

}  // namespace edgewire::frontier
