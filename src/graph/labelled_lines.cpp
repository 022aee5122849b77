#include "graph/readers.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <mutex>
#include <span>
#include <utility>

#include "base/error.h"
#include "graph/list_head.h"
#include "graph/text_lines.h"
#include "graph/vertex_names.h"

namespace edgewire::graph {

namespace {

bool is_white(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Goes through the lines of a piece that hold edges, and the fields of each.
class Lines {
 public:
  Lines(const Input& input, const Piece& piece, char separator)
      : input_(input),
        piece_(piece),
        separator_(separator),
        blanks_(separator == '\t' ? " \r" : kBlanks),
        rest_(piece.text) {}

  /// Goes to the next line. Calls left_out(comment) for each comment on the way. Returns false at the end.
  template <class LeftOut>
  bool next(const LeftOut& left_out) {
    while (!rest_.empty()) {
      line_ = trimmed(cut_line(rest_), blanks_);
      if (line_.empty()) continue;
      if (!is_comment_beside_names(input_, piece_, line_)) return true;
      left_out(line_);
    }
    return false;
  }
  bool next() {
    return next([](std::string_view) {});
  }

  std::string_view line() const { return line_; }
  bool at_end() const { return line_.empty(); }

  /// Returns the next field of the line, valid until the one after it is asked for.
  std::string_view field() {
    if (line_.starts_with('"')) return quoted();
    std::size_t end = 0;
    while (end < line_.size() && !separates(line_[end])) ++end;
    const std::string_view text = trimmed(line_.substr(0, end), blanks_);
    check_name(input_, piece_, text, text.data());
    skip_to_next(end);
    return text;
  }

  [[noreturn]] void fail(const char* at, std::string_view what) const { input_.fail_line(piece_, at, what); }

 private:
  bool separates(char c) const { return separator_ == ' ' ? is_white(c) : c == separator_; }

  /// Goes behind the separator at `end`, and the blanks after it.
  void skip_to_next(std::size_t end) {
    const bool more = end < line_.size();
    line_.remove_prefix(more ? end + 1 : end);
    line_ = trimmed(line_, blanks_);
    if (more && line_.empty()) fail(line_.data(), "the line ends with a separator");
  }

  std::string_view quoted() {
    const char* const begin = line_.data();
    const std::size_t end = closing_quote(line_);
    if (end == line_.npos) fail(begin, "a name in double quotes does not end on its line");
    const std::string_view name = undoubled(line_.substr(1, end - 1), unquoted_);
    std::size_t at = end + 1;
    while (at < line_.size() && is_white(line_[at]) && !separates(line_[at])) ++at;
    if (at < line_.size() && !separates(line_[at]))
      fail(begin, "text follows the double quote that ends a name");
    check_name(input_, piece_, name, begin);
    skip_to_next(at);
    return name;
  }

  const Input& input_;
  const Piece& piece_;
  char separator_;
  const char* blanks_;  ///< around fields
  std::string_view rest_;
  std::string_view line_;
  std::string unquoted_;
};

/// Says what the lines look like. Lines that are blank, and comments (see comment_of()), are skipped. Fields
/// stand between separators; blanks around them do not count. A field in double quotes may hold separators,
/// and a double quote as two. Names hold no control characters.
struct LabelledShape {
  char separator = ' ';               ///< tab, comma, or a space for any number of blanks
  int fields = 0;                     ///< fields of each line
  std::size_t begin = 0;              ///< of the first line with an edge in its piece
  bool weighted = false;              ///< the third is a weight
  bool chosen = false;                ///< --columns says so, or that it is none
  RoundedWeights* rounded = nullptr;  ///< is told of weights that are; may be null
};

/// Returns the shape that the first line of the piece with an edge tells: a tab separates if there is one,
/// else a comma, else blanks. It has no fields when there is no such line.
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

/// The first comment of a file that may be meant as a line of names. Thread safe.
class LeftOut {
 public:
  /// `fields`: those of other lines.
  LeftOut(const LabelledShape& shape, int fields) : shape_(shape), fields_(fields) {}

  void add(const Input& input, const Piece& piece, std::string_view comment) {
    if (!may_be_names(comment)) return;
    const std::uint64_t offset =
        piece.offset + static_cast<std::uint64_t>(comment.data() - piece.text.data());
    const std::lock_guard lock(mutex_);
    if (offset >= offset_) return;
    offset_ = offset;
    note_ = fmt::format(
        "{}: line {}: {:.60} is left out as a comment; if it is none, put the name into double "
        "quotes",
        input.path(), input.line_of(piece, comment.data()), comment);
  }
  /// Returns what to say of it; empty where there is none.
  const std::string& note() const { return note_; }

 private:
  /// Returns whether a comment has as many fields as other lines, none of which is a heading.
  bool may_be_names(std::string_view comment) const {
    const std::string_view separators =
        shape_.separator == ' ' ? " \t" : std::string_view(&shape_.separator, 1);
    int fields = 1;
    std::string_view last = comment;
    for (std::size_t at = 0; (at = last.find_first_of(separators)) != last.npos; ++fields)
      last = trimmed(last.substr(at + 1), shape_.separator == ' ' ? kBlanks : " \r");
    double weight = 0;
    const bool is_number =
        std::from_chars(last.data(), last.data() + last.size(), weight).ptr == last.data() + last.size();
    return fields == fields_ && !is_end_name(last) && (fields < 3 || !shape_.weighted || is_number);
  }

  const LabelledShape& shape_;
  int fields_;
  std::mutex mutex_;
  std::uint64_t offset_ = Input::kToEnd;
  std::string note_;
};

/// Adds the edges of a piece to `edges`, and their names to `names`. With `vertices` a line is a vertex
/// alone, in its first field, and no edge. Throws Error with path, line and byte offset.
void parse_labelled_lines(const Input& input, const Piece& piece, const LabelledShape& shape, bool vertices,
                          LeftOut& left_out, NameSet& names, LabelledEdges& edges) {
  Lines lines(input, piece, shape.separator);
  WeightReader weights(input, piece, shape.rounded);
  while (lines.next([&](std::string_view comment) { left_out.add(input, piece, comment); })) {
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
    if (shape.weighted && !shape.chosen && fields > 3) {
      lines.fail(begin, fmt::format("{} fields; an edge list has SOURCE TARGET [WEIGHT]; --no-weights reads "
                                    "the first two fields of each line",
                                    fields));
    }
    if (fields != shape.fields)
      lines.fail(begin, fmt::format("{} fields, but the first edge has {}", fields, shape.fields));
  }
}

bool is_number(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Refuses a line of headings, which must not become an edge.
void refuse_heading(const Input& input, const std::vector<std::string>& first,
                    const std::vector<std::string_view>& names) {
  const bool only_words = !is_number(first[0]) && !is_number(first[1]) && names.size() > 2 &&
                          std::all_of(names.begin(), names.end(), [&](std::string_view name) {
                            return is_number(name) || name == first[0] || name == first[1];
                          });
  if (!only_words && !std::all_of(first.begin(), first.end(), is_end_name)) return;
  throw Error(
      fmt::format("{}: the first line ({} {}) looks like names of columns; if it is, put a # and a blank "
                  "before it, or say --columns; if it is an edge, move it down by a line",
                  input.path(), first[0], first[1]));
}

}  // namespace

bool is_comment_beside_names(const Input& input, const Piece& piece, std::string_view line) {
  const Comment comment = comment_of(line);
  if (comment != Comment::unclear) return comment == Comment::clear;
  const std::string_view mark = line.substr(0, line.starts_with("//") ? 2 : 1);
  if (line.substr(mark.size()).starts_with(mark)) return true;  // as ##VERSION at the head of many files
  input.fail_line(
      piece, line.data(),
      fmt::format("a comment has a blank after {0}; put a name that begins with {0} into double quotes",
                  mark));
}

std::uint32_t NameSet::number(std::string_view name) {
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  if (names_.size() == kMaxNames) throw Error("there are more names than the 4294967294 that are supported");
  const auto number = static_cast<std::uint32_t>(names_.size());
  numbers_.emplace(names_.emplace_back(name), number);
  return number;
}

std::vector<std::string_view> number_vertices(std::vector<LabelledPart>& parts) {
  std::vector<std::string_view> names;
  for (const LabelledPart& part : parts)
    names.insert(names.end(), part.names.names().begin(), part.names.names().end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  parallel_for(static_cast<int>(parts.size()), parts.size(), [&](int, std::uint64_t index) {
    LabelledPart& part = parts[index];
    part.vertices.reserve(part.names.names().size());
    for (const std::string& name : part.names.names()) {
      part.vertices.push_back(
          static_cast<std::uint32_t>(std::lower_bound(names.begin(), names.end(), name) - names.begin()));
    }
  });
  return names;
}

BuildSummary build_labelled(Conversion& conversion, std::vector<LabelledPart>& parts,
                            const std::vector<std::string_view>& names) {
  if (conversion.headed != nullptr) conversion.headed->look_at(parts, names);
  std::vector<std::pair<const LabelledPart*, LabelledEdges*>> chunks;
  std::uint64_t edges = 0;
  for (LabelledPart& part : parts) {
    for (LabelledEdges& chunk : part.edges) {
      chunks.emplace_back(&part, &chunk);
      edges += chunk.ids.size() / 2;
    }
  }
  Builder builder(names.size(), edges, conversion.options);
  parallel_for(
      conversion.options.workers, chunks.size(),
      [&](int worker, std::uint64_t index) {
        const std::vector<std::uint32_t>& vertex = chunks[index].first->vertices;
        const LabelledEdges chunk =
            std::exchange(*chunks[index].second, {});  // freed when its edges are copied
        builder.add(worker, std::span(chunk.ids),
                    conversion.options.weighted ? chunk.weights.view() : Weights(),
                    [&](std::uint32_t name) { return vertex[name]; });
      },
      "numbering vertices", conversion.progress);
  return write_labelled(builder, *conversion.output, conversion.wanted.table, names, 0, conversion.progress);
}

BuildSummary read_labelled(Conversion conversion) {
  Input& input = conversion.input;
  BuildOptions& options = conversion.options;
  std::vector<LabelledPart> parts(static_cast<std::size_t>(options.workers));
  LabelledShape shape;
  const auto read = [&](std::span<Input* const> inputs, const Piece& begin, bool vertices) {
    LeftOut left_out(shape, vertices ? 1 : shape.fields);
    each_piece(conversion, inputs, begin, 0, [&](const Input& from, int worker, const Piece& piece) {
      LabelledPart& part = parts[static_cast<std::size_t>(worker)];
      parse_labelled_lines(from, piece, shape, vertices, left_out, part.names, part.edges.emplace_back());
    });
    if (options.note && !left_out.note().empty()) options.note(left_out.note());
  };
  Piece first;
  while (shape.fields == 0 && input.next_lines(first)) shape = shape_of(input, first);
  const ThirdField third = third_field(conversion.wanted.columns);
  if (third == ThirdField::weight && shape.fields < 3)
    input.fail_line(first, first.text.data() + shape.begin, "the weight is missing");
  options.weighted = shape.weighted = options.weighted && shape.fields >= 3 && third != ThirdField::other;
  shape.chosen = third != ThirdField::unsaid;
  shape.rounded = &conversion.rounded;
  if (shape.weighted && !shape.chosen) options.column = third_column(first.text.substr(0, shape.begin));
  std::vector<std::string> first_names;
  if (shape.fields > 0) {
    read(conversion.inputs, first, false);
    const auto& names = parts[0].names.names();
    for (const std::size_t end : {0, 1}) first_names.push_back(names[parts[0].edges[0].ids[end]]);
  }
  if (conversion.vertices != nullptr) read({&conversion.vertices, 1}, {}, true);
  const std::vector<std::string_view> names = number_vertices(parts);
  if (!first_names.empty()) refuse_heading(input, first_names, names);
  BuildSummary summary = build_labelled(conversion, parts, names);
  summary.third_is_weight = options.column != WeightColumn::named;
  return summary;
}

}  // namespace edgewire::graph
