#include "graph/labelled_lines.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "graph/format.h"

namespace edgewire::graph {

namespace {

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

std::string_view trimmed_field(std::string_view text, char separator) {
  const auto goes = [&](char c) { return is_white(c) && !(c == '\t' && separator == '\t'); };
  while (!text.empty() && goes(text.front())) text.remove_prefix(1);
  while (!text.empty() && goes(text.back())) text.remove_suffix(1);
  return text;
}

/// Goes through the lines of a piece that hold edges, and the fields of each.
class Lines {
 public:
  Lines(const Input& input, const Piece& piece, char separator)
      : input_(input), piece_(piece), separator_(separator), rest_(piece.text) {}

  /// False at the end.
  bool next() {
    while (!rest_.empty()) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      line_ = trimmed_field(rest_.substr(0, end), separator_);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      if (!line_.empty() && !is_comment()) return true;
    }
    return false;
  }

  std::string_view line() const { return line_; }
  bool at_end() const { return line_.empty(); }

  /// The next field of the line, valid until the one after it is asked for.
  std::string_view field() {
    if (line_.starts_with('"')) return quoted();
    std::size_t end = 0;
    while (end < line_.size() && !separates(line_[end])) ++end;
    const std::string_view text = trimmed_field(line_.substr(0, end), separator_);
    check(text, text.data());
    skip_to_next(end);
    return text;
  }

  [[noreturn]] void fail(const char* at, std::string_view what) const { input_.fail_line(piece_, at, what); }

 private:
  bool separates(char c) const { return separator_ == ' ' ? is_white(c) : c == separator_; }

  bool is_comment() const {
    const bool slashes = line_.starts_with("//");
    if (!slashes && line_[0] != '#' && line_[0] != '%') return false;
    const std::size_t after = slashes ? 2 : 1;
    if (line_.size() == after || is_white(line_[after]) || line_[after] == line_[0]) return true;
    fail(line_.data(),
         fmt::format("a comment has a blank after {0}; put a name that begins with {0} into double quotes",
                     line_.substr(0, after)));
  }

  /// Goes behind the separator at `end`, and the blanks after it.
  void skip_to_next(std::size_t end) {
    const bool more = end < line_.size();
    line_.remove_prefix(more ? end + 1 : end);
    line_ = trimmed_field(line_, separator_);
    if (more && line_.empty()) fail(line_.data(), "the line ends with a separator");
  }

  std::string_view quoted() {
    const char* const begin = line_.data();
    unquoted_.clear();
    std::size_t at = 1;
    for (;; ++at) {
      if (at == line_.size()) fail(begin, "a name in double quotes does not end on its line");
      if (line_[at] == '"' && !line_.substr(at + 1).starts_with('"')) break;
      if (line_[at] == '"') ++at;
      unquoted_ += line_[at];
    }
    ++at;
    while (at < line_.size() && is_white(line_[at]) && !separates(line_[at])) ++at;
    if (at < line_.size() && !separates(line_[at]))
      fail(begin, "text follows the double quote that ends a name");
    check(unquoted_, begin);
    skip_to_next(at);
    return unquoted_;
  }

  void check(std::string_view text, const char* at) const {
    if (text.empty()) fail(at, "a field is empty");
    if (std::any_of(text.begin(), text.end(), is_control)) fail(at, "a name holds a control character");
  }

  const Input& input_;
  const Piece& piece_;
  char separator_;
  std::string_view rest_;
  std::string_view line_;
  std::string unquoted_;
};

}  // namespace

std::uint32_t NameSet::number(std::string_view name) {
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  if (names_.size() == kMaxNames) throw Error("there are more names than the 4294967294 that are supported");
  const auto number = static_cast<std::uint32_t>(names_.size());
  numbers_.emplace(names_.emplace_back(name), number);
  return number;
}

LabelledShape shape_of(const Input& input, const Piece& piece) {
  Lines first(input, piece, ' ');
  if (!first.next()) return {};
  LabelledShape shape;
  shape.begin = static_cast<std::size_t>(first.line().data() - piece.text.data());
  const auto is_in_line = [&](char c) { return first.line().find(c) != std::string_view::npos; };
  shape.separator = is_in_line('\t') ? '\t' : is_in_line(',') ? ',' : ' ';
  Lines lines(input, piece, shape.separator);
  for (lines.next(); !lines.at_end(); ++shape.fields) lines.field();
  return shape;
}

void parse_labelled_lines(const Input& input, const Piece& piece, const LabelledShape& shape, bool vertices,
                          NameSet& names, LabelledEdges& edges) {
  Lines lines(input, piece, shape.separator);
  WeightReader weights(input, piece, shape.rounded);
  while (lines.next()) {
    const char* const begin = lines.line().data();
    const std::uint32_t source = names.number(lines.field());
    if (vertices) continue;
    if (lines.at_end()) lines.fail(begin, "the line ends where the target should be");
    edges.ids.push_back(source);
    edges.ids.push_back(names.number(lines.field()));
    int fields = 2;
    for (; !lines.at_end(); ++fields) {
      const std::string_view text = lines.field();
      if (fields == 2 && shape.weighted) edges.weights.add(weights.read(text));
    }
    if (shape.weighted && fields > 3) {
      lines.fail(begin,
                 fmt::format("{} fields; an edge list has SOURCE TARGET [WEIGHT]; --no-weights reads the "
                             "first two fields of each line",
                             fields));
    }
    if (fields != shape.fields)
      lines.fail(begin, fmt::format("{} fields, but the first edge has {}", fields, shape.fields));
  }
}

}  // namespace edgewire::graph
