// The part of `--verify` beside the check of values: it derives the answer of a run again from the values of
// all vertices, in one process and one vertex after the other, and compares. It shares nothing with the code
// that makes answers but the names of vertices and the form of numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "edgewire/graph.h"
#include "graph/file/vertex_names.h"
#include "report/answer.h"

namespace edgewire::runs {

/// The subject of an answer.
struct Asked {
  const Graph& graph;
  const graph::VertexNames& names;
  const std::optional<std::uint64_t>& top;  ///< number of vertices that are asked for
};

/// Returns "" where the answer is the expected one, else the fault. Numbers may differ by 1e-9 of their
/// value, as sums do in another order. A figure that is not expected may be anything.
std::string answer_fault(const report::Answer& found, const report::Answer& expected);

// All of these functions take the values of all vertices, [vertex].

/// Returns the expected answer of a search: `levels` has kernels::kNoLevel for vertices that no path reaches.
report::Answer expected_of_levels(const Asked& asked, std::span<const std::uint32_t> levels);
/// Returns the same for distances: float, double or std::uint64_t.
template <class Distance>
report::Answer expected_of_distances(const Asked& asked, std::span<const Distance> distances,
                                     Distance unreached);
/// Returns the same for labels. `several`: the name of groups.
report::Answer expected_of_groups(const Asked& asked, std::span<const PlainId> labels, const char* several);
/// Returns a list of the vertices with the highest values, double or std::uint64_t, or those furthest from 0.
/// `by_default`: the number that the kernel lists unasked.
template <class Value>
report::Answer expected_highest(const Asked& asked, std::span<const Value> values, std::uint64_t by_default,
                                bool by_magnitude = false);
/// Returns the path to `target` along the parents, which are known to be right.
report::Path expected_path(const Asked& asked, std::span<const PlainId> parents, VertexId source,
                           VertexId target, report::Number length);

}  // namespace edgewire::runs
