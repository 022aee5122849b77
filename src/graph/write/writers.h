// The graph/write folder writes our graphs in the formats of others, plain or compressed. This file has one
// function for each kind of file. Each reads and checks the whole graph and writes a file whole or not at
// all. All throw Error with the path.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/output_file.h"
#include "base/parallel.h"
#include "edgewire/graph.h"
#include "graph/convert.h"

namespace edgewire::graph {

/// A graph to be written.
struct Export {
  const Graph& graph;
  const std::string& output;  ///< path, or - for stdout where the format is text
  bool weights;               ///< whether to write weights: graph and format have some
  bool names;                 ///< whether vertices of edge lists have names, not numbers
  int workers;
  const Progress& progress;
};

/// Writes GAP's edge lists, .el and (weighted) .wel: "SOURCE TARGET [WEIGHT]", from 0, in the order of the
/// graph; or the names of vertices. Throws Error when a name would be read as something else.
WriteSummary write_gap_text(const Export& task);
/// Writes a table with a header (RFC 4180, with LF at line ends): source, target and, where they are written,
/// weight. Vertices are called as in results, by their names or by the ids that they had.
WriteSummary write_table(const Export& task, char separator);
/// Writes a Matrix Market coordinate file, from 1: general; pattern, or (weighted) integer or real.
WriteSummary write_matrix_market(const Export& task);
/// Writes a METIS graph, from 1: the edges must be there both ways, once, without self loops, and weights
/// must be whole numbers from 1 to 2^31 - 1.
WriteSummary write_metis(const Export& task);
/// Writes GAP's serialized graphs, .sg and (weighted) .wsg: see read_gap_binary. Vertices are fewer than 2^31
/// and weights are 32-bit whole numbers. Memory: 4 bytes for each edge (8 with weights) and 8 for each
/// vertex, unless the graph is symmetric.
WriteSummary write_gap_binary(const Export& task);

/// The place for text: a file that appears whole or not at all, or stdout, named "-". Not thread safe.
class TextOutput {
 public:
  /// Opens the output. Throws UsageError where the path's ending promises a compression that is not written.
  explicit TextOutput(const std::string& path);
  /// Returns the text as the ending of the path says (see graph::packed()): pieces that are compressed one by
  /// one make a file when they follow each other. Thread safe.
  std::string packed(std::string text) const;
  /// Appends a piece from packed(). Throws Error with the path and the system's reason.
  void append_packed(std::string_view text);
  void append(std::string text) { append_packed(packed(std::move(text))); }
  /// Gives the file its name and returns its bytes. Throws Error also where a file that was read has changed.
  std::uint64_t commit();

 private:
  std::string path_;
  std::optional<OutputFile> file_;  ///< file; none for stdout
  std::uint64_t bytes_ = 0;
};

/// Appends the text of blocks 0..count-1 in this order. format(block, text) appends a block to an empty
/// `text`; the workers call it in parallel. Memory: the text of a block for each worker.
void append_blocks(TextOutput& output, const Export& task, std::uint64_t count,
                   const std::function<void(std::uint64_t block, std::string& text)>& format);

/// A graph's edges and the ends of its rows, in the order of the file: each row is its edges and then its
/// end. They are cut into blocks of bounded size, whatever the lengths of rows.
class RowBlocks {
 public:
  /// Checks the offsets of all rows. The graph must outlive this.
  explicit RowBlocks(const Graph& graph);
  std::uint64_t count() const { return (positions() + kPositions - 1) / kPositions; }

  /// The default of row_end, which does nothing.
  struct Nothing {
    void operator()(PlainId) const noexcept {}
  };
  /// Checks the rows of a block, then calls edge(row, index) and row_end(row) in order.
  template <class Edge, class RowEnd = Nothing>
  void visit(std::uint64_t block, const Edge& edge, const RowEnd& row_end = {}) const {
    const std::uint64_t end = std::min((block + 1) * kPositions, positions());
    std::uint64_t row = row_of(block * kPositions);
    std::uint64_t index = block * kPositions - row;
    graph_.verify_rows(row, row_of(end - 1) + 1);
    for (; row + index < end; ++row) {
      const std::uint64_t row_ends = graph_.offsets()[row + 1];
      const std::uint64_t stop = std::min(row_ends, end - row);
      for (; index < stop; ++index) edge(static_cast<PlainId>(row), index);
      if (row + index == end) return;
      row_end(static_cast<PlainId>(row));
    }
  }

 private:
  static constexpr std::uint64_t kPositions = 1 << 16;
  std::uint64_t positions() const { return graph_.edges() + graph_.vertices(); }
  /// Returns the row that a position belongs to. Row r begins at position offsets[r] + r.
  std::uint64_t row_of(std::uint64_t position) const;

  const Graph& graph_;
};

}  // namespace edgewire::graph
