// Lines of text, each an edge between names: "SOURCE TARGET [WEIGHT]".
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/input.h"
#include "graph/weight_list.h"
#include "graph/weight_text.h"

namespace edgewire::graph {

/// Different names and a number for each, in the order in which they came. Not thread safe.
class NameSet {
 public:
  std::uint32_t number(std::string_view name);
  const std::deque<std::string>& names() const noexcept { return names_; }

 private:
  std::deque<std::string> names_;  // stay where they are
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

/// So many names may there be, whatever the width of ids.
inline constexpr std::uint64_t kMaxNames = 0xFFFF'FFFE;

/// What the lines look like. Lines that are blank, and comments, are skipped. A comment begins with #, % or
/// // and then a blank, the line end or the same again. Fields stand between separators; blanks around them
/// do not count. A field in double quotes may hold separators, and a double quote as two. Names hold no
/// control characters.
struct LabelledShape {
  char separator = ' ';               ///< tab, comma, or a space for any number of blanks
  int fields = 0;                     ///< of each line
  std::size_t begin = 0;              ///< of the first line with an edge in its piece
  bool weighted = false;              ///< the third is a weight
  RoundedWeights* rounded = nullptr;  ///< is told of weights that are; may be null
};

/// Edges between names of a set.
struct LabelledEdges {
  std::vector<std::uint32_t> ids;  ///< source and target of each
  WeightList weights;              ///< one for each when weighted, else empty
};

/// The shape that the first line of the piece with an edge tells: a tab separates if there is one, else a
/// comma, else blanks. No fields when there is no such line.
LabelledShape shape_of(const Input& input, const Piece& piece);

/// Adds the edges of a piece to `edges`, and their names to `names`. With `vertices` a line is a vertex
/// alone, in its first field, and no edge. Throws Error with path, line and byte offset.
void parse_labelled_lines(const Input& input, const Piece& piece, const LabelledShape& shape, bool vertices,
                          NameSet& names, LabelledEdges& edges);

}  // namespace edgewire::graph
