// What results call the vertices: their names in the table beside the graph, or their ids.
//
// The table of g.ew is g.ew.labels, a text file: the line
//   edgewire-labels 1 VERTICES GRAPH NAMES
// and then one name a line, in the order of the vertices. VERTICES is the number of names, GRAPH the checksum
// in the header of g.ew, and NAMES the XXH3-64 of all bytes after the first line (both 16 hexadecimal
// digits). A name is a sequence of one byte or more without control characters. A graph that needs such a
// table says so in its header; tables beside other graphs are ignored.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"
#include "base/output_file.h"
#include "edgewire/graph.h"
#include "graph/file/builder.h"
#include "graph/read/text_lines.h"

namespace edgewire::graph {

/// Returns the path of the table beside a graph; beside a link's target where there is none beside the link.
std::string labels_path(const std::string& graph_path);

/// Names for output. All const members are thread safe.
class VertexNames {
 public:
  /// Maps and checks the table where the graph needs one. Throws Error with the table's path (and line) when
  /// it is missing, damaged or belongs to another graph. The graph must outlive this.
  explicit VertexNames(const Graph& graph);

  /// Returns whether names come from a table. Otherwise they are the ids that the converted file had.
  bool labelled() const noexcept { return table_ != nullptr; }
  /// Returns the name of a vertex from the table. It is called only when labelled().
  std::string_view label(VertexId vertex) const;
  /// Appends the name of a vertex, label or id, to `text`.
  void append(fmt::memory_buffer& text, VertexId vertex) const;
  /// Returns the same as a string.
  std::string operator()(VertexId vertex) const;
  /// Returns the vertex of this name; of several, the first. Looks at one name after another.
  std::optional<VertexId> find(std::string_view name) const;

 private:
  void check_table();

  const Graph& graph_;
  std::unique_ptr<MappedFile> table_;
  std::vector<std::uint64_t> starts_;  ///< byte of every 16th name
};

/// Appends a name as a field of a table, as RFC 4180 defines it. Blanks at its ends, and what begins a
/// comment, are quoted as well: some readers, ours among them, take them for something else. `Text` is a
/// std::string or a fmt::memory_buffer.
template <class Text>
void append_name(Text& text, std::string_view name, char separator) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool quoted = is_blank(name.front()) || is_blank(name.back()) || comment_of(name) != Comment::none ||
                      name.find_first_of("\"\r\n") != name.npos || name.find(separator) != name.npos;
  if (quoted) text.push_back('"');
  for (const char c : name) {
    if (c == '"') text.push_back(c);
    text.push_back(c);
  }
  if (quoted) text.push_back('"');
}

/// Writes the names of a table, in the order of the vertices, and returns their checksum.
std::uint64_t write_labels(OutputFile& table, std::span<const std::string_view> names);
/// Writes the first line, which names the graph that the table with `count` names belongs to.
void write_labels_header(OutputFile& table, std::uint64_t count, std::uint64_t graph_checksum,
                         std::uint64_t names_checksum);

/// Writes a graph and its table: see Builder::write. Both appear, or an Error is thrown and neither does. The
/// table of a nameless graph goes into `table`, another nameless file; without that its vertices have no
/// names but their numbers.
BuildSummary write_labelled(Builder& builder, OutputFile& output, OutputFile* table,
                            std::span<const std::string_view> names, std::uint32_t flags,
                            const Progress& progress);

}  // namespace edgewire::graph
