// This file decides which process reads which rows of a graph: all together read each row once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "edgewire/graph.h"
#include "partition/ownership.h"

namespace edgewire::partition {

/// Ranges of rows, ascending and apart from each other.
using RowRanges = std::vector<graph::RowRange>;

/// Returns whether all rows are in the ranges.
bool are_all(std::span<const graph::RowRange> ranges, std::uint64_t vertices);
/// Returns whether the rows of all vertices of process `rank` are in the ranges.
bool hold_owned(std::span<const graph::RowRange> ranges, const Ownership& ownership, std::uint32_t rank);

/// Returns the rows from the first vertex that process `rank` owns to its last one.
graph::RowRange span_of_owned(const Ownership& ownership, std::uint32_t rank);

/// Returns the rows that process `rank` reads. `here`: the rows that each process can read. Rows that several
/// processes can read are cut into as many ranges, each with about the same number of edges and vertices
/// together. It verifies the offsets that it looks at, which are few. Throws Error where no process can read
/// a row.
RowRanges rows_to_read(const Graph& graph, std::span<const RowRanges> here, std::uint32_t rank);

/// Cuts rows that can be read here into `parts` lists, in their order, likewise.
std::vector<RowRanges> cut_rows(const Graph& graph, std::span<const graph::RowRange> rows, std::size_t parts);

/// Returns the first vertex of [first, last] whose row begins with this edge or behind it; last + 1: there is
/// none. It verifies the offsets that it looks at.
std::uint64_t first_from(const Graph& graph, const graph::RowRange& rows, std::uint64_t edge);

}  // namespace edgewire::partition
