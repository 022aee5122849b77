// This file has the values of vertices as results show them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "edgewire/graph.h"
#include "launch/bootstrap.h"
#include "partition/ownership.h"

namespace edgewire::runs {

/// A column of results. It does not own the values. Its lines are those of LDBC Graphalytics: NAME<TAB>VALUE
/// for each vertex.
struct Values {
  enum class Form {
    number,    ///< `digits` of it
    distance,  ///< the fewest digits that tell it from others of its type; no path leads to 2^64 - 1 and to
               ///< infinity, which are `infinity`
    level,     ///< a whole number; no path leads to 2^32 - 1, which is 9223372036854775807
    vertex     ///< the name of another vertex, such as a parent or a label; kNoVertex is -1
  };
  using Numbers = std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>,
                               std::span<const float>, std::span<const double>>;
  Form form = Form::number;
  Numbers numbers;
  int digits = 17;
};

/// Returns the vertices of a process, by local number.
std::vector<VertexId> owned_vertices(const partition::Ownership& ownership, std::uint32_t rank);

/// Returns a line for each vertex of the graph, whose values these are. Throws Error as graph::VertexNames
/// does, and FileChanged where the names may be wrong, as the others do.
std::string lines_of_all(const graph::GraphFile& graph, const Values& all);
/// Returns a line for each of these vertices. `values`: in the same order.
std::string lines_of(const graph::GraphFile& graph, std::span<const VertexId> vertices, const Values& values);
/// Sends each process the values of its own vertices, and returns their lines. `all`: the values of all
/// vertices, at rank 0; elsewhere none, of the same type. Collective; throws Error.
std::string lines_of_owned(launch::Bootstrap& bootstrap, const graph::GraphFile& graph,
                           const partition::Ownership& ownership, const Values& all);

}  // namespace edgewire::runs
