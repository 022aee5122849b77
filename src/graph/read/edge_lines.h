// Lines of text, each an edge: "SOURCE TARGET [WEIGHT]".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/file/weights.h"
#include "graph/read/edge_sink.h"
#include "graph/read/input.h"
#include "graph/read/readers.h"
#include "graph/read/weight_text.h"

namespace edgewire::graph {

/// The form of plain lines, see parse_plain_lines().
struct PlainShape {
  std::uint64_t min_id = 0, max_id = ~std::uint64_t{0};
  std::uint64_t origin = 0;                     ///< number to subtract from ids: min_id or 0
  std::array<char, 3> gaps = {' ', '\t', ','};  ///< characters that may stand between the two ids
};

/// The form that lines must have. Lines that are blank or begin with #, % or // are skipped. Fields are
/// separated by spaces, tabs or commas. What NetworkX writes in braces is one field.
struct LineShape : PlainShape {
  int fields = 0;         ///< number of fields that each line must have, the mark included; 0 for any number
  bool weighted = false;  ///< whether the third field is a weight, or has one in braces: {'weight': 4}
  bool named = false;     ///< whether the remedy for ids that are no numbers is --labels
  bool vertex = false;    ///< whether a line is a vertex alone, read as an edge from it to itself
  char mark = 0;  ///< field with which each edge begins, while comments begin with c (DIMACS); 0: none
  bool zero_loops = false;  ///< whether an edge from a vertex to itself is refused unless it weighs 0
  std::string hint = {};    ///< text added to messages about a wrong number of fields
  RoundedWeights* rounded = nullptr;  ///< receiver of rounded weights; may be null
};

/// The edges of one piece of text: ids of 32 bits, or of 64 where some need them.
struct ParsedEdges {
  // Source and target of each edge, less the origin. The vectors only grow: they are filled with zeros once.
  std::vector<std::uint32_t> narrow;
  std::vector<std::uint64_t> wide;
  std::size_t ids = 0;   ///< number of ids in one of the two
  bool is_wide = false;  ///< whether the ids are in `wide`
  WeightList weights;    ///< weights, one for each edge when weighted, else empty

  std::size_t size() const noexcept { return ids / 2; }
  void add_to(EdgeSink& sink, int worker) const {
    if (is_wide) return sink.add(worker, std::span(wide).first(ids), weights.view());
    sink.add_narrow(worker, std::span(narrow).first(ids), weights.view());
  }
  std::vector<std::uint64_t> all_ids() const {
    const auto end = static_cast<std::ptrdiff_t>(ids);
    if (is_wide) return {wide.begin(), wide.begin() + end};
    return {narrow.begin(), narrow.begin() + end};
  }
};

/// Parses a piece into `edges`, replacing what is there. Throws Error with path, line and column.
void parse_edge_lines(const Input& input, const Piece& piece, const LineShape& shape, ParsedEdges& edges);

/// Hands the edges of this reader's share of the inputs to take(worker, edges), see each_piece().
void each_edge_piece(const Conversion& conversion, std::span<Input* const> inputs, const LineShape& shape,
                     const Piece& first,
                     const std::function<void(int worker, const ParsedEdges& edges)>& take);

/// Returns the sources of edges all over the inputs. Faulty lines are left to the readers of all lines.
std::vector<std::uint64_t> sample_sources(std::span<Input* const> inputs, LineShape shape);

/// The form of the first line of a piece that holds an edge.
struct FirstEdge {
  const char* at = nullptr;
  int fields = 0;         ///< number of fields; 0 when there is no such line
  bool weighted = false;  ///< whether there is a third field, and if that is in braces it has a weight
  bool named = false;     ///< whether the weight is in braces, with its name
};
FirstEdge first_edge(const Piece& piece);

/// The words of messages about lines that end in CR alone.
inline constexpr std::string_view kCrAlone =
    "lines end in CR alone, as on old Macs; tr '\\r' '\\n' < FILE > NEW makes them readable";
/// Returns the first CR that does not end a line; npos for none. It would hide what follows.
std::size_t cr_within_line(std::string_view text);

/// Returns true for a line that is skipped: #, % or //.
bool is_comment(const char* at, const char* end);

/// The place that parse_plain_lines() has reached.
template <class Id>
struct PlainLines {
  const char* next = nullptr;  ///< first line that was not read, or the end of the text
  Id* ids_end = nullptr;       ///< end of the ids that were written
};

/// The number of readable bytes that must stand before the text.
inline constexpr std::size_t kBeforePlainLines = 16;

/// Reads the lines that most edge lists are made of, many at a time: "SOURCE TARGET\n" (or "\r\n") of two
/// numbers with up to 16 digits and one gap between them, up to the first line of another shape; some lines
/// before that one, and those in the last bytes of the text, may be left, too. Writes source and target of
/// each to `ids`, which has room for half as many ids as the text has bytes. `Id` is std::uint32_t or
/// std::uint64_t. Reads nothing on processors other than x86-64.
template <class Id>
PlainLines<Id> parse_plain_lines(std::string_view text, const PlainShape& shape, Id* ids);

}  // namespace edgewire::graph
