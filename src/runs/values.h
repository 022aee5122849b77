// The values of vertices as results show them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "graph/graph_file.h"
#include "launch/bootstrap.h"
#include "partition/ownership.h"

namespace edgewire::runs {

/// A column of results. It does not own the values.
struct Values {
  /// number: with `digits`. distance: the fewest digits that tell it from others, or "infinity". level: a
  /// whole number. vertex: the name of another vertex. See VertexLines.
  enum class Form { number, distance, level, vertex };
  using Numbers = std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>,
                               std::span<const float>, std::span<const double>>;
  Form form = Form::number;
  Numbers numbers;
  int digits = 17;
};

/// The vertices of a process, by local number.
std::vector<VertexId> owned_vertices(const partition::Ownership& ownership, std::uint32_t rank);

/// A line for each vertex of the graph, whose values these are.
std::string lines_of_all(const graph::GraphFile& graph, const Values& all);
/// A line for each of these vertices. `values`: in the same order.
std::string lines_of(const graph::GraphFile& graph, std::span<const VertexId> vertices, const Values& values);
/// Sends each process the values of its own vertices, and returns their lines. `all`: of all vertices, at
/// rank 0; elsewhere none, of the same type. Collective; throws Error.
std::string lines_of_owned(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                           const partition::Ownership& ownership, const Values& all);

}  // namespace edgewire::runs
