#include "graph/read/readers.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "base/error.h"
#include "graph/file/vertex_names.h"
#include "graph/read/first_lines.h"
#include "graph/read/list_head.h"
#include "graph/read/text_lines.h"
#include "options/files.h"

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
  const char* blanks_;  ///< blanks around fields
  std::string_view rest_, line_;
  std::string unquoted_;
};

/// The form of the lines. Lines that are blank, and comments (see comment_of()), are skipped. Fields stand
/// between separators; blanks around them do not count. A field in double quotes may hold separators, and a
/// double quote as two. Names hold no control characters.
struct LabelledShape {
  char separator = ' ';               ///< tab, comma, or a space for any number of blanks
  int fields = 0;                     ///< number of fields of each line
  std::size_t begin = 0;              ///< start of the first line with an edge in its piece
  bool weighted = false;              ///< whether the third is a weight
  bool chosen = false;                ///< whether --columns says whether the third is a weight
  bool guessed = false;               ///< whether names are a guess, see FirstLines
  RoundedWeights* rounded = nullptr;  ///< receiver of rounded weights; may be null
};

/// Returns the shape that the first line with an edge in the piece tells; no fields if there is none.
LabelledShape shape_of(const Input& input, const Piece& piece, const FirstLines& told) {
  LabelledShape shape = {.guessed = told.guessed};
  Lines first(input, piece, ' ');
  if (!first.next()) return shape;
  shape.separator = told.separator != 0 ? told.separator : separator_of_names(first.line());
  Lines lines(input, piece, shape.separator);
  lines.next();
  shape.begin = static_cast<std::size_t>(lines.line().data() - piece.text.data());
  for (; !lines.at_end(); ++shape.fields) lines.field();
  return shape;
}

/// Comments that may be meant as lines of names. Thread safe.
class LeftOut {
 public:
  /// Makes an empty list. `fields`: the number of fields of other lines.
  LeftOut(const LabelledShape& shape, int fields) : shape_(shape), fields_(fields) {}

  void add(const Input& input, const Piece& piece, std::string_view comment) {
    const std::string_view end = end_in(comment);
    if (end.empty()) return;
    const std::uint64_t offset =
        piece.offset + static_cast<std::uint64_t>(comment.data() - piece.text.data());
    const std::lock_guard lock(mutex_);
    if (first_.size() == kMost && offset > first_.rbegin()->first) return;  // counting lines takes long
    first_[offset] = {std::string(end),
                      fmt::format("{}: line {}: {:.60} is left out as a comment; if it is none, put the name "
                                  "into double quotes",
                                  input.path(), input.line_of(piece, comment.data()), comment)};
    if (first_.size() > kMost) first_.erase(std::prev(first_.end()));
  }
  /// Returns a note on the first one whose other end is a vertex; empty where there is none. `names`:
  /// the names of all vertices, in order.
  std::string note(const std::vector<std::string_view>& names) const {
    for (const auto& [offset, comment] : first_)
      if (std::ranges::binary_search(names, comment.end)) return comment.note;
    return "";
  }

 private:
  static constexpr std::size_t kMost = 100;  // most comments that are looked at: files may have millions
  struct Left {
    std::string end, note;
  };

  /// Returns the last name of a comment that has as many fields as other lines; empty for others.
  std::string_view end_in(std::string_view comment) const {
    Line fields;
    if (!split_fields(comment, shape_.separator, fields) || std::ssize(fields) != fields_) return {};
    if (fields_ > 2 && shape_.weighted && !is_number(fields[2])) return {};
    return fields[fields_ > 1 ? 1 : 0];
  }

  const LabelledShape& shape_;
  int fields_;
  std::mutex mutex_;
  std::map<std::uint64_t, Left> first_;  ///< first comments by their offset
};

/// Adds the edges of a piece to `edges`, and their names to `names`. With `vertices` a line is a vertex
/// alone, in its first field, and no edge. Throws Error with path, line and column.
void parse_labelled_lines(const Input& input, const Piece& piece, const LabelledShape& shape, bool vertices,
                          LeftOut& left_out, NameSet& names, LabelledEdges& edges) {
  Lines lines(input, piece, shape.separator);
  WeightReader weights(input, piece, shape.rounded);
  const auto id = [&] {
    const char* const at = lines.line().data();
    const std::string_view name = lines.field();
    if (shape.guessed && is_number(name)) refuse_number(input, piece, name, at);
    return names.number(name);
  };
  while (lines.next([&](std::string_view comment) { left_out.add(input, piece, comment); })) {
    const char* const begin = lines.line().data();
    const std::uint32_t source = id();
    if (vertices) continue;
    if (lines.at_end()) lines.fail(begin, "the line ends where the target should be");
    edges.ids.push_back(source);
    edges.ids.push_back(id());
    int fields = 2;
    for (; !lines.at_end(); ++fields) {
      const char* const at = lines.line().data();
      const std::string_view text = lines.field();
      if (fields == 2 && shape.weighted) edges.weights.add(weights.read(text, at));
    }
    if (shape.weighted && !shape.chosen && fields > 3)
      lines.fail(begin, fmt::format("{} fields; an edge list has SOURCE TARGET [WEIGHT]{}", fields,
                                    opt::no_weights.hint("; {} reads the first two fields of each line")));
    if (fields != shape.fields)
      lines.fail(begin, fmt::format("{} fields, but the first edge has {}", fields, shape.fields));
  }
}

}  // namespace

bool is_comment_beside_names(const Input& input, const Piece& piece, std::string_view line) {
  const Comment comment = comment_of(line);
  if (comment != Comment::unclear) return comment == Comment::clear;
  // ##VERSION at the head of many files is a comment.
  const std::string_view mark = line.substr(0, line.starts_with("//") ? 2 : 1);
  if (line.substr(mark.size()).starts_with(mark)) return true;
  input.fail_line(
      piece, line.data(),
      fmt::format("a comment has a blank after {0}; put a name that begins with {0} into double quotes",
                  mark));
}

std::uint32_t NameSet::number(std::string_view name) {
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  if (names_.size() == kMaxNames) throw Error("there are more names than the supported 4294967294");
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
    for (const std::string& name : part.names.names())
      part.vertices.push_back(
          static_cast<std::uint32_t>(std::lower_bound(names.begin(), names.end(), name) - names.begin()));
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
  parallel_for(conversion.options.workers, chunks.size(), "numbering vertices", conversion.progress,
               [&](int worker, std::uint64_t index) {
                 const std::vector<std::uint32_t>& vertex = chunks[index].first->vertices;
                 // Each chunk is freed when its edges are copied.
                 const LabelledEdges chunk = std::exchange(*chunks[index].second, {});
                 builder.add(worker, std::span(chunk.ids),
                             conversion.options.weighted ? chunk.weights.view() : Weights(),
                             [&](std::uint32_t name) { return vertex[name]; });
               });
  BuildSummary summary =
      write_labelled(builder, *conversion.output, conversion.wanted.table, names, 0, conversion.progress);
  summary.named = true;
  return summary;
}

BuildSummary read_labelled(Conversion conversion) {
  Input& input = conversion.input;
  BuildOptions& options = conversion.options;
  std::vector<LabelledPart> parts(static_cast<std::size_t>(options.workers));
  LabelledShape shape;
  std::optional<LeftOut> left_out, left_out_alone;
  const auto read = [&](std::span<Input* const> inputs, const Piece& begin, bool vertices) {
    LeftOut& comments = (vertices ? left_out_alone : left_out).emplace(shape, vertices ? 1 : shape.fields);
    each_piece(conversion, inputs, begin, 0, [&](const Input& from, int worker, const Piece& piece) {
      LabelledPart& part = parts[static_cast<std::size_t>(worker)];
      parse_labelled_lines(from, piece, shape, vertices, comments, part.names, part.edges.emplace_back());
    });
  };
  Piece first;
  while (shape.fields == 0 && input.next_lines(first)) shape = shape_of(input, first, conversion.first);
  const ThirdField third = third_field(conversion.wanted.columns);
  if (third == ThirdField::weight && shape.fields < 3)
    input.fail_line(first, first.text.data() + shape.begin, "the weight is missing");
  options.weighted = shape.weighted = options.weighted && shape.fields >= 3 && third != ThirdField::other;
  shape.chosen = third != ThirdField::unsaid;
  shape.rounded = &conversion.rounded;
  if (shape.weighted && !shape.chosen) options.column = third_column(first.text.substr(0, shape.begin));
  if (shape.fields > 0) read(conversion.inputs, first, false);
  if (conversion.vertices != nullptr) read({&conversion.vertices, 1}, {}, true);
  const std::vector<std::string_view> names = number_vertices(parts);
  const auto say = [&](const std::string& line) {
    if (options.note && !line.empty()) options.note(line);
  };
  if (conversion.first.guessed) say(fmt::format("{}: {}", input.path(), note_of_names(conversion.first)));
  for (const auto& comments : {&left_out, &left_out_alone})
    if (*comments) say((*comments)->note(names));
  BuildSummary summary = build_labelled(conversion, parts, names);
  summary.third_is_weight = options.column != WeightColumn::named;
  return summary;
}

}  // namespace edgewire::graph
