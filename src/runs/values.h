// This file has the values of vertices as results show them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "edgewire/graph.h"
#include "launch/bootstrap.h"
#include "partition/ownership.h"

namespace edgewire::runs {

/// The form of the text of results.
enum class TextForm {
  lines,  ///< a line NAME<TAB>VALUE for each vertex, as in LDBC Graphalytics
  csv,    ///< a table with the header "vertex,COLUMN", as in RFC 4180, but with lines that end in LF
  json    ///< an array of a record for each vertex, {"vertex":NAME,"COLUMN":VALUE}, each on a line
};

/// Returns the form for a name of an output, in any case and before .gz or .zst: .csv, .json, else lines.
TextForm text_form_of(std::string_view path);

/// A column of results. It does not own the values. Where there is no value, as no path leads to a vertex, a
/// table has an empty field, JSON has null, and lines have the text of `form`.
struct Values {
  enum class Form {
    number,    ///< a number with `digits`
    distance,  ///< a distance in the fewest digits that tell it from others of its type; no path leads to
               ///< 2^64 - 1 and to infinity, which are `infinity`
    level,     ///< a whole number; no path leads to 2^32 - 1, which is 9223372036854775807
    vertex     ///< the name of another vertex, such as a parent or a label; kNoVertex is -1
  };
  using Numbers = std::variant<std::span<const std::uint32_t>, std::span<const std::uint64_t>,
                               std::span<const float>, std::span<const double>>;
  Form form = Form::number;
  Numbers numbers;
  int digits = 17;
  std::string_view column = "value";  ///< name of the column, which outlives this
};

/// Returns parents of vertices as results show them.
inline Values shown_parents(std::span<const PlainId> parents) {
  return {Values::Form::vertex, parents, 0, "parent"};
}

/// Returns the vertices of a process, by local number.
std::vector<VertexId> owned_vertices(const partition::Ownership& ownership, std::uint32_t rank);

/// Returns the text of the values of all vertices of the graph. Throws Error as graph::VertexNames does, and
/// FileChanged where the names may be wrong, as the others do.
std::string text_of_all(const Graph& graph, const Values& all, TextForm form);
/// Returns the text of these vertices. `values`: in the same order.
std::string text_of(const Graph& graph, std::span<const VertexId> vertices, const Values& values,
                    TextForm form);
/// Sends each process the values of its own vertices, and returns their text. `all`: the values of all
/// vertices, at rank 0; elsewhere none, of the same type. Collective; throws Error.
std::string text_of_owned(launch::Bootstrap& bootstrap, const Graph& graph,
                          const partition::Ownership& ownership, const Values& all, TextForm form);

}  // namespace edgewire::runs
