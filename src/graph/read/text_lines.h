// Lines of text and their fields, for text that is not read edge by edge as by edge_lines.h.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

#include "graph/file/format.h"
#include "graph/read/input.h"

namespace edgewire::graph {

inline constexpr const char* kBlanks = " \t\r";

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Returns the text without the blanks (of `blanks`) at both ends. For nothing but blanks it returns the
/// empty text at the end, so that messages can say where it is.
inline std::string_view trimmed(std::string_view text, const char* blanks = kBlanks) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == text.npos) return text.substr(text.size());
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// Returns whether a text is a whole number without a sign.
inline bool is_whole(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns whether a text is a number of any kind, such as 7, -1.5e3 or nan.
inline bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* const end = text.data() + text.size();
  return !text.empty() && std::from_chars(text.data(), end, value).ptr == end;
}

/// Returns where the double quote is that ends a text which begins with one; npos where none does. Within the
/// text a double quote is written twice.
inline std::size_t closing_quote(std::string_view text) {
  std::size_t end = text.find('"', 1);
  while (end != text.npos && text.substr(end + 1).starts_with('"')) end = text.find('"', end + 2);
  return end;
}

/// Returns the text with one double quote for each two. `memory`: for the result.
inline std::string_view undoubled(std::string_view text, std::string& memory) {
  if (text.find("\"\"") == text.npos) return text;
  memory.clear();
  for (std::size_t at = 0; at < text.size(); ++at) {
    memory += text[at];
    if (text.substr(at).starts_with("\"\"")) ++at;
  }
  return memory;
}

/// The certainty that a line is a comment, where lines may also begin with names.
enum class Comment {
  none,
  unclear,  ///< text follows the mark, so it may be a name as well
  clear
};

/// Returns whether a line, without blanks at its ends, is a comment. A comment begins with #, % or //, once
/// or several times, and then a blank or the line end. A name that begins like this stands in double quotes.
inline Comment comment_of(std::string_view line) {
  const bool slashes = line.starts_with("//");
  if (!slashes && !line.starts_with('#') && !line.starts_with('%')) return Comment::none;
  const std::size_t after = line.find_first_not_of(line[0]);
  const bool ends = after == line.npos || line.find_first_of(kBlanks, after) == after;
  return ends ? Comment::clear : Comment::unclear;
}

/// Throws Error where a field, at `at` in the piece, is no name of a vertex.
inline void check_name(const Input& input, const Piece& piece, std::string_view name, const char* at) {
  if (name.empty()) input.fail_line(piece, at, "a name is empty");
  if (std::ranges::any_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7F; }))
    input.fail_line(piece, at, "a name holds a control character");
}

/// Cuts the first line off `text`, and returns it without its end.
inline std::string_view cut_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// Leaves in the piece only the text from `at` on.
inline void drop_before(Piece& piece, const char* at) {
  const std::string_view before = piece.text.substr(0, static_cast<std::size_t>(at - piece.text.data()));
  piece.offset += before.size();
  piece.line += static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
  piece.text.remove_prefix(before.size());
}

/// A reader of the lines at the head of an input, before the rest is read in parallel.
class HeaderLines {
 public:
  /// Makes a reader. `piece` is empty at first and must outlive it; fail_line() needs it for a line.
  HeaderLines(Input& input, Piece& piece) : input_(input), piece_(piece) {}

  /// Takes the next line. Returns false at the end of the file. `line`, without its end, points into the
  /// piece.
  bool next(std::string_view& line) {
    if (rest_.empty()) {
      if (!input_.next_lines(piece_)) return false;
      rest_ = piece_.text;
    }
    line = cut_line(rest_);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }
  /// Leaves only the untaken lines in the piece.
  void finish() { drop_before(piece_, rest_.data()); }

 private:
  Input& input_;
  Piece& piece_;
  std::string_view rest_;
};

/// Throws Error where `line`, which points into the piece, counts more than is supported.
inline void refuse_more(const Input& input, const Piece& piece, std::string_view line, std::uint64_t vertices,
                        std::uint64_t edges) {
  if (vertices <= kMaxVertices && edges <= kMaxEdges / 2) return;
  input.fail_line(piece, line.data(),
                  fmt::format("more vertices or edges than are supported{}",
                              vertices > kMaxVertices ? kMoreVertices : ""));
}

/// The fields of a line of a piece, one after the other, with blanks between them.
class Fields {
 public:
  Fields(const Input& input, const Piece& piece, std::string_view line)
      : input_(input), piece_(piece), at_(line.data()), end_(at_ + line.size()) {
    move_to(at_);
  }

  bool more() const { return at_ != end_; }
  /// Returns the next field; empty at the end.
  std::string_view word() {
    const char* const begin = at_;
    const char* const after = std::find_if(at_, end_, is_blank);
    move_to(after);
    return {begin, after};
  }
  /// Returns the next field if it is a whole number; else it stays.
  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    const auto [after, error] = std::from_chars(at_, end_, value);
    if (error != std::errc() || (after != end_ && !is_blank(*after))) return std::nullopt;
    move_to(after);
    return value;
  }
  /// Does the same, but throws Error, "expected WHAT", where there is none.
  std::uint64_t whole(std::string_view what) {
    const auto value = number();
    if (!value) fail(fmt::format("expected {}", what));
    return *value;
  }
  /// Throws Error with the place of the next field.
  [[noreturn]] void fail(std::string_view what) const { input_.fail_line(piece_, at_, what); }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void move_to(const char* after) { at_ = std::find_if_not(after, end_, is_blank); }

  const Input& input_;
  const Piece& piece_;
  const char* at_;
  const char* end_;
};

}  // namespace edgewire::graph
