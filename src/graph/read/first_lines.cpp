#include "graph/read/first_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>

#include "base/error.h"
#include "edgewire/convert.h"
#include "graph/read/readers.h"
#include "graph/read/text_lines.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

/// Returns how often a character is in the line outside of double quotes.
std::ptrdiff_t count_in(std::string_view line, char wanted) {
  bool quoted = false;
  return std::ranges::count_if(line, [&](char c) {
    quoted = quoted != (c == '"');
    return c == wanted && !quoted;
  });
}

/// Returns whether a field may name a column of numbers: a word, but none for a number that is missing.
bool may_be_title(std::string_view field) {
  constexpr std::array<std::string_view, 10> kMissing = {"na",   "n/a", "nan",      "null",    "nil",
                                                         "none", "inf", "infinity", "unknown", "missing"};
  const auto first = static_cast<unsigned char>(field.empty() ? '?' : field[0]);
  constexpr unsigned char kBeyondAscii = 0x80;
  return (std::isalpha(first) != 0 || first == '_' || first >= kBeyondAscii) && !is_one_of(field, kMissing);
}

class Look {
 public:
  Look(Input& input, const ConvertOptions& options)
      : input_(input), options_(options), chosen_(chosen_columns(options.columns)) {
    piece_.text = input.peek();
    piece_.offset = input.offset();
    whole_ = piece_.text.size() < Input::kPeekBytes;
    if (piece_.text.starts_with(kByteOrderMark))
      drop_before(piece_, piece_.text.data() + kByteOrderMark.size());
    rest_ = piece_.text;
  }

  FirstLines decide() {
    std::string_view line = rest_;
    const auto told = told_separator(cut_line(line));
    if (told) rest_ = line;
    if (!next(first_text_)) return {.names = options_.labels, .table = told.has_value()};
    separator_ = told.value_or(separator_of(first_text_));
    if (!split_trimmed(first_text_, separator_, first_)) return {.names = options_.labels};
    if (!choose()) return as_said(told.has_value());
    if (options_.labels && !told && !known_ && chosen_.columns.empty()) {
      separator_ = separator_of_names(first_text_);
      split_trimmed(first_text_, separator_, first_);
      if (!choose()) return as_said(false);
    }
    FirstLines found = {.names = true, .guessed = !options_.labels, .separator = separator_};
    if (!options_.labels && !are_names()) return {};
    found.header = are_two_names(first_) && is_header();
    found.sure = known_ || chosen_.by_name();
    found.table = found.header || told || separator_ == ';' || separator_ == '|';
    return found;
  }

 private:
  /// Returns what --labels says, for lines that the reader will refuse.
  FirstLines as_said(bool table) const {
    return {.names = options_.labels,
            .table = table || separator_ == ';' || separator_ == '|',
            .separator = separator_};
  }

  /// Takes the next line that is no comment. Returns false at the end.
  bool next(std::string_view& line) {
    while (!rest_.empty()) {
      if (!whole_ && rest_.find('\n') == rest_.npos) return false;  // the rest is a part of a line
      line = cut_line(rest_);
      const std::string_view text = trimmed(line);
      if (!text.empty() && comment_of(text) == Comment::none) return true;
    }
    return false;
  }

  /// Chooses the columns of source and target. Returns false where the reader has to say why not.
  bool choose() {
    try {
      if (chosen_.columns.empty()) {
        const EdgeColumns found = find_edge_columns(first_, options_.weights);
        by_place_ = found.by_place;
        source_ = found.source;
        target_ = found.target;
      } else {
        source_ = find_column(first_, chosen_.columns[0]);
        target_ = find_column(first_, chosen_.columns[1]);
      }
    } catch (const Error&) {
      // The third field of an edge may be anything, also a name of a column.
      source_ = 0;
      target_ = 1;
      by_place_ = options_.labels && chosen_.columns.empty();
      return by_place_ && first_.size() > 1;
    }
    known_ = names_edges(first_);
    return true;
  }

  bool are_two_names(const Line& row) const { return !is_number(row[source_]) && !is_number(row[target_]); }

  bool are_names() {
    if (!are_two_names(first_)) return false;
    const std::string_view before = rest_;
    const bool any = next_row();
    rest_ = before;
    if (!any) return is_edge_alone();
    if (!are_two_names(row_)) return false;
    if (by_place_) refuse_words_beside(row_);
    return true;
  }

  /// Throws Error where fields beside the ends are words, too, so that the ends are unclear.
  void refuse_words_beside(const Line& row) const {
    for (const std::size_t i : others())
      if (!row[i].empty() && !is_number(row[i])) fail(row, which_columns());
  }

  /// Returns whether the only line is an edge. Throws Error where it may be a header as well.
  bool is_edge_alone() {
    if (known_ || chosen_.by_name()) return false;
    if (is_weighted(first_)) return true;
    const bool list =
        separator_ == ' ' || options_.format == Format::snap || format_of_name(input_.path()) == Format::snap;
    if (list && chosen_.columns.empty()) return true;  // edge lists have no header
    if (first_.size() == 2 && !options_.allow_empty) refuse();
    return false;
  }

  /// Takes the next line with as many fields as the first one has into row_. Returns false where there is
  /// none.
  bool next_row() {
    std::string_view line;
    return next(line) && split_trimmed(line, separator_, row_) && row_.size() == first_.size();
  }

  /// Returns the places of the fields that are no ends of edges.
  std::vector<std::size_t> others() const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < first_.size(); ++i)
      if (i != source_ && i != target_) places.push_back(i);
    return places;
  }

  /// Returns whether a field beside the ends is a number, as in no header.
  bool is_weighted(const Line& row) const {
    return std::ranges::any_of(others(), [&](std::size_t i) { return is_number(row[i]); });
  }

  /// Returns whether the first line, which has names where ids are, names the columns.
  bool is_header() {
    if (chosen_.by_name()) return true;
    if (options_.labels && !chosen_.columns.empty() && !known_) return false;
    const Rows rows = look_at_rows();
    if (known_) {
      if (rows.recur || is_weighted(first_)) refuse_known();
      return true;
    }
    if (rows.count == 0) return false;
    if (is_weighted(first_)) {
      if (!rows.recur && !options_.labels) refuse();
      return false;
    }
    if (rows.numbers == rows.count) refuse();
    if (rows.any_figures && !rows.recur) {
      if (by_place_) refuse_words_beside(rows.first);
      if (!rows.any_titles) refuse();
      return true;
    }
    if (rows.recur) {
      if (rows.any_figures && !options_.labels) refuse();
      return false;
    }
    const bool called_so = is_end_name(first_[source_]) && is_end_name(first_[target_]);
    if (!options_.labels || called_so) refuse();
    return false;
  }

  /// The facts that the rows below the first line have in common.
  struct Rows {
    Line first;                            ///< first of the rows
    std::uint64_t count = 0, numbers = 0;  ///< numbers of rows, and of rows whose ids are both numbers
    bool recur = false;                    ///< whether an id of the first line recurs in them
    bool any_figures = false;  ///< whether a column has numbers in all rows, but none in the first line
    bool any_titles = false;   ///< whether a name may stand there; columns of ids do not count
  };
  Rows look_at_rows() {
    Rows rows;
    std::vector<std::size_t> figures(first_.size());
    std::iota(figures.begin(), figures.end(), std::size_t{0});
    std::erase_if(figures, [&](std::size_t i) { return first_[i].empty(); });
    std::vector<bool> any(first_.size());
    while (next_row()) {
      if (++rows.count == 1) rows.first = row_;
      rows.numbers += is_number(row_[source_]) && is_number(row_[target_]) ? 1 : 0;
      for (const std::size_t end : {source_, target_})
        rows.recur = rows.recur || row_[end] == first_[source_] || row_[end] == first_[target_];
      std::erase_if(figures, [&](std::size_t i) { return !row_[i].empty() && !is_number(row_[i]); });
      for (const std::size_t i : figures) any[i] = any[i] || !row_[i].empty();
    }
    std::erase_if(figures, [&](std::size_t i) { return !any[i]; });
    rows.any_figures = !figures.empty();
    rows.any_titles = std::ranges::any_of(
        figures, [&](std::size_t i) { return i != source_ && i != target_ && may_be_title(first_[i]); });
    return rows;
  }

  /// Refuses a pair of names of columns where it may be an edge, too.
  [[noreturn]] void refuse_known() {
    fail(first_,
         fmt::format("{:.60} and {:.60} are names of columns, but may be an edge: {} takes them for columns; "
                     "if they are an edge, move it down by a line",
                     first_[source_], first_[target_], taken_for_columns(column(source_), column(target_))));
  }
  [[noreturn]] void refuse() {
    fail(first_,
         fmt::format("{:.60} and {:.60} may be names of columns or an edge: {:.160} takes them for columns, "
                     "{} for an edge",
                     first_[source_], first_[target_], taken_for_columns(column(source_), column(target_)),
                     taken_for_columns(source_ + 1, target_ + 1)));
  }
  /// Returns the options that make these columns hold names.
  static std::string taken_for_columns(const auto& source, const auto& target) {
    return options::together(opt::labels.said(), opt::columns(fmt::format("{},{}", source, target)));
  }
  /// Returns the name of a column as --columns takes it.
  std::string column(std::size_t place) const {
    const std::string_view name = first_[place];
    return name.find_first_of(", \"") == name.npos ? std::string(name) : fmt::format("'\"{}\"'", name);
  }
  [[noreturn]] void fail(const Line& row, std::string_view what) const {
    input_.fail_line(piece_, row[0].data(), what);
  }

  Input& input_;
  const ConvertOptions& options_;
  const ChosenColumns chosen_;
  Piece piece_;
  bool whole_ = false;  ///< whether the piece is all of the input
  std::string_view rest_, first_text_;
  char separator_ = ' ';
  Line first_, row_;
  std::size_t source_ = 0, target_ = 1;
  bool by_place_ = false;  ///< whether no name tells the columns
  bool known_ = false;     ///< whether the first line has names that only columns have
};

}  // namespace

bool split_fields(std::string_view line, char separator, Line& fields) {
  fields.clear();
  // A tab at an end is an empty field.
  const char* const around = separator == '\t' ? " \r" : kBlanks;
  line = trimmed(line, around);
  for (;;) {
    std::size_t end = 0;
    if (line.starts_with('"')) {
      end = closing_quote(line);
      if (end == line.npos) return false;
      fields.push_back(line.substr(1, end - 1));
      line.remove_prefix(end + 1);
      const std::size_t blanks = std::min(line.find_first_not_of(around), line.size());
      if (separator != ' ') line.remove_prefix(blanks);
      if (!line.empty() && line[0] != separator && (separator != ' ' || line[0] != '\t')) return false;
      end = 0;
    } else {
      end = std::min(separator == ' ' ? line.find_first_of(" \t") : line.find(separator), line.size());
      fields.push_back(trimmed(line.substr(0, end)));
    }
    if (end == line.size()) return true;
    line.remove_prefix(end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(around), line.size()));
  }
}

bool split_trimmed(std::string_view line, char separator, Line& fields) {
  const bool whole = split_fields(line, separator, fields);
  for (std::string_view& field : fields) field = trimmed(field);
  return whole;
}

char separator_of_names(std::string_view line) {
  line = trimmed(line);
  for (const char candidate : {'\t', ','})  // also behind a double quote that is a part of a name
    if (line.find(candidate) != line.npos) return candidate;
  for (const char candidate : {' ', ';', '|'})
    if (count_in(line, candidate) > 0) return candidate;
  return ' ';
}

char separator_of(std::string_view line) {
  line = trimmed(line);
  if (count_in(line, '\t') > 0) return '\t';
  char best = ' ';
  std::ptrdiff_t most = 0;
  for (const char candidate : {';', '|', ','}) {
    const std::ptrdiff_t count = count_in(line, candidate);
    if (count > most) best = candidate;
    most = std::max(most, count);
  }
  return best;
}

std::optional<char> told_separator(std::string_view line) {
  constexpr std::string_view kWord = "sep=";
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with('"') && line.ends_with('"')) line = line.substr(1, line.size() - 2);
  if (line.size() != kWord.size() + 1 || !is_one_of(line.substr(0, kWord.size()), std::array{kWord}))
    return std::nullopt;
  const char separator = line.back();
  if (separator == '"' || std::isalnum(static_cast<unsigned char>(separator)) != 0) return std::nullopt;
  return separator;
}

bool ChosenColumns::by_name() const {
  return !std::ranges::all_of(columns, [](std::string_view column) { return is_whole(column); });
}

ChosenColumns chosen_columns(std::string_view columns) {
  ChosenColumns chosen;
  if (columns.empty()) return chosen;
  if (!split_trimmed(columns, ',', chosen.columns) || chosen.columns.size() < 2 || chosen.columns.size() > 3)
    throw UsageError(
        fmt::format("{}: '{}' is not SOURCE,TARGET or SOURCE,TARGET,WEIGHT", opt::columns, columns));
  return chosen;
}

FirstLines first_lines(Input& input, const ConvertOptions& options) { return Look(input, options).decide(); }

std::string note_of_names(const FirstLines& lines) {
  const char* const first = !lines.header ? "the first line is an edge"
                            : lines.sure  ? ""
                                          : "the first line names the columns";
  if (!lines.guessed) return lines.header ? first : "";
  return fmt::format("ids are names, taken as with {}{}{}", opt::labels, *first == 0 ? "" : "; ", first);
}

void refuse_number(const Input& input, const Piece& piece, std::string_view id, const char* at) {
  input.fail_line(piece, at,
                  fmt::format("{:.60} is a number, but other ids are names: {} takes all ids for names", id,
                              opt::labels));
}

}  // namespace edgewire::graph
