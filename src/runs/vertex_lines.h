// The form of all results that have a value for each vertex, that of LDBC Graphalytics: a line
// NAME<TAB>VALUE for each vertex.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/mapped_file.h"
#include "graph/graph_file.h"
#include "graph/vertex_names.h"

namespace edgewire::runs {

class VertexLines {
 public:
  /// Throws Error as graph::VertexNames does. The graph must outlive this.
  explicit VertexLines(const graph::GraphFile& graph) : names_(graph) {}

  /// A number with so many digits.
  void add(VertexId vertex, double value, int digits);
  /// The fewest digits that tell it from any other number of its type; `infinity` where no path leads, which
  /// is infinity or 2^64 - 1.
  void add_distance(VertexId vertex, float distance);
  void add_distance(VertexId vertex, double distance);
  void add_distance(VertexId vertex, std::uint64_t distance);
  /// A whole number; 9223372036854775807 where no path leads, which is `level` 0xffffffff.
  void add_level(VertexId vertex, std::uint32_t level);
  /// The name of another vertex, such as a parent or the label of a component; `other` kNoVertex: -1.
  void add_vertex(VertexId vertex, VertexId other);

  /// All lines. Called once. Throws FileChanged where the names may be wrong.
  std::string take() {
    refuse_changed_files();
    return fmt::to_string(text_);
  }

 private:
  template <class Number>
  void add_number(VertexId vertex, Number number, bool infinite);

  graph::VertexNames names_;
  fmt::memory_buffer text_;
};

}  // namespace edgewire::runs
