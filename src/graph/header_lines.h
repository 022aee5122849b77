// The lines at the head of a file, before those that are read in parallel.
#pragma once

#include <algorithm>
#include <string_view>

#include "graph/input.h"

namespace edgewire::graph {

/// Takes lines from the first pieces of an input.
class HeaderLines {
 public:
  /// `piece` is empty at first. It must outlive this, and is the one that fail_line() needs for a line.
  HeaderLines(Input& input, Piece& piece) : input_(input), piece_(piece) {}

  /// False at the end of the file. `line`, without its end, points into the piece.
  bool next(std::string_view& line) {
    if (at_ == piece_.text.size()) {
      at_ = 0;
      if (!input_.next_lines(piece_)) return false;
    }
    const std::size_t end = std::min(piece_.text.find('\n', at_), piece_.text.size());
    line = piece_.text.substr(at_, end - at_);
    at_ = std::min(end + 1, piece_.text.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }

  /// Leaves in the piece what was not taken.
  void finish() {
    const std::string_view taken = piece_.text.substr(0, at_);
    piece_.offset += at_;
    piece_.line += static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), '\n'));
    piece_.text.remove_prefix(at_);
    at_ = 0;
  }

 private:
  Input& input_;
  Piece& piece_;
  std::size_t at_ = 0;
};

}  // namespace edgewire::graph
