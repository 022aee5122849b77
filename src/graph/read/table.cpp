#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cctype>
#include <charconv>
#include <span>

#include "base/error.h"
#include "edgewire/convert.h"
#include "graph/read/edge_lines.h"
#include "graph/read/first_lines.h"
#include "graph/read/readers.h"
#include "graph/read/text_lines.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

constexpr std::size_t kNone = ~std::size_t{0};
constexpr std::array<std::string_view, 1> kUndirected = {"undirected"};
std::string are_names() { return fmt::format(". Are ids names? Then say {}, too", opt::labels); }

struct Columns {
  std::size_t source = kNone, target = kNone, weight = kNone;
  std::size_t type = kNone;  ///< place of Gephi's column Type
  std::size_t fields = 0;
  char separator = ',';
};

/// Counts rows, and those that are undirected by their column Type.
struct RowCount {
  std::uint64_t all = 0, undirected = 0;
};

/// Returns whether a field looks like one of a row, not like the name of a column.
bool is_data(std::string_view field) {
  return field.empty() || std::isdigit(static_cast<unsigned char>(field[0])) != 0 || field[0] == '-' ||
         field[0] == '+' || field[0] == '.';
}

class TableReader {
 public:
  TableReader(Conversion& conversion)
      : conversion_(conversion), input_(conversion.input), look_(conversion.first) {}

  BuildSummary read() {
    Piece first;
    HeaderLines lines(input_, first);
    std::string_view line;
    std::optional<char> separator;
    for (bool first_line = true; lines.next(line); first_line = false) {
      if (first_line && (separator = told_separator(line))) continue;
      if (is_skipped(first, line)) continue;
      columns_.separator = look_.separator != 0 ? look_.separator : separator.value_or(separator_of(line));
      const bool header = choose_columns(first, line);
      header ? lines.finish() : drop_before(first, line.data());  // a line that is an edge stays
      conversion_.options.weighted = columns_.weight != kNone;
      BuildSummary summary = look_.names ? labelled_rows(first) : rows(first);
      summary.third_is_weight = conversion_.options.column != WeightColumn::named;
      return summary;
    }
    throw Error(fmt::format("{}: the table has no header and no rows", input_.path()));
  }

 private:
  BuildSummary rows(const Piece& first) {
    start(conversion_, {.numbering = GraphShape::Numbering::dense}, [&] { return sample(); });
    EdgeSink& sink = conversion_.edges;
    std::vector<std::vector<std::uint32_t>> memory(static_cast<std::size_t>(conversion_.options.workers));
    each_piece(conversion_, conversion_.inputs, first, 0, [&](const Input&, int worker, const Piece& piece) {
      std::vector<std::uint64_t> ids;
      WeightList weights;
      const auto take_id = [&](std::string_view field) { ids.push_back(id(piece, field)); };
      const PlainRows plain = plain_rows(piece, memory[static_cast<std::size_t>(worker)]);
      count(take(piece, plain.before, &conversion_.rounded, weights, take_id));
      count(take(piece, plain.after, &conversion_.rounded, weights, take_id));
      sink.add_narrow(worker, plain.ids, Weights());
      sink.add(worker, ids, weights.view());
    });
    end_reading();
    return sink.write(0, conversion_.progress);
  }

  void count(const RowCount& rows) {
    rows_ += rows.all;
    undirected_ += rows.undirected;
  }

  /// Says, in one process, what the user should know of the table. Collective.
  void end_reading() const {
    const auto say = [&](const std::string& line) {
      if (!line.empty() && conversion_.edges.rank() == 0 && conversion_.options.note)
        conversion_.options.note(fmt::format("{}: {}", input_.path(), line));
    };
    const std::string names = note_of_names(look_);
    say(names + (names.empty() || note_.empty() ? "" : "; ") + note_);
    if (columns_.type == kNone || conversion_.options.undirected) return;
    const std::uint64_t rows = conversion_.edges.sum(rows_);
    say(note_of_types(conversion_.edges.sum(undirected_), rows));
  }

  /// The text around the rows that were read, and their ids.
  struct PlainRows {
    std::string_view before, after;
    std::span<const std::uint32_t> ids;
  };

  /// Reads plain rows of a piece, where source and target are the only columns. `memory`: for the ids.
  PlainRows plain_rows(const Piece& piece, std::vector<std::uint32_t>& memory) const {
    const std::size_t begin = piece.text.find('\n', kBeforePlainLines) + 1;
    if (columns_.fields != 2 || columns_.source != 0 || begin == 0) return {piece.text, {}, {}};
    const char separator = columns_.separator;
    const PlainShape shape = {.gaps = {separator, separator == ' ' ? '\t' : separator, separator}};
    // The memory is filled with zeros once.
    if (memory.size() < piece.text.size() / 2) memory.resize(piece.text.size() / 2);
    const auto read = parse_plain_lines(piece.text.substr(begin), shape, memory.data());
    return {piece.text.substr(0, begin), {read.next, piece.text.end()}, {memory.data(), read.ids_end}};
  }

  std::vector<std::uint64_t> sample() const {
    std::vector<std::uint64_t> sources;
    WeightList weights;
    input_.sample(0, [&](const Piece& piece) {
      bool source = false;
      take(piece, piece.text, nullptr, weights, [&](std::string_view field) {
        source = !source;
        if (source) sources.push_back(id(piece, field));
      });
      weights.clear();
    });
    return sources;
  }

  BuildSummary labelled_rows(const Piece& first) {
    std::vector<LabelledPart> parts(static_cast<std::size_t>(conversion_.options.workers));
    each_piece(conversion_, conversion_.inputs, first, 0, [&](const Input&, int worker, const Piece& piece) {
      LabelledPart& part = parts[static_cast<std::size_t>(worker)];
      LabelledEdges& edges = part.edges.emplace_back();
      std::string unquoted;
      count(take(piece, piece.text, &conversion_.rounded, edges.weights, [&](std::string_view field) {
        check_name(input_, piece, field, field.data());
        if (look_.guessed && is_number(field)) refuse_number(input_, piece, field, field.data());
        edges.ids.push_back(part.names.number(undoubled(field, unquoted)));
      }));
    });
    end_reading();
    return build_labelled(conversion_, parts, number_vertices(parts));
  }

  /// Calls take_id with the fields of source and target of each row. `rest`: the rows of the piece.
  template <class TakeId>
  RowCount take(const Piece& piece, std::string_view rest, RoundedWeights* rounded, WeightList& weights,
                const TakeId& take_id) const {
    WeightReader reader(input_, piece, rounded);
    RowCount rows;
    Line fields;
    while (!rest.empty()) {
      const std::string_view line = cut_line(rest);
      if (is_skipped(piece, line)) continue;
      split(piece, line, fields);
      if (fields.size() != columns_.fields)
        input_.fail_line(
            piece, line.data(),
            fmt::format("{} fields where the first line has {}", fields.size(), columns_.fields));
      take_id(fields[columns_.source]);
      take_id(fields[columns_.target]);
      if (columns_.weight != kNone) weights.add(reader.read(trimmed(fields[columns_.weight])));
      ++rows.all;
      if (columns_.type != kNone && is_one_of(trimmed(fields[columns_.type]), kUndirected)) ++rows.undirected;
    }
    return rows;
  }

  std::uint64_t id(const Piece& piece, std::string_view text) const {
    const std::string_view field = trimmed(text);
    std::uint64_t value = 0;
    const char* const end = field.data() + field.size();
    const auto [after, error] = std::from_chars(field.data(), end, value);
    if (error == std::errc::result_out_of_range)
      input_.fail_line(piece, field.data(), "the vertex id does not fit 64 bits");
    if (error != std::errc() || after != end) {
      const std::string what = "expected a vertex id (a whole number from 0 on)";
      input_.fail_line(piece, field.data(),
                       is_data(field) ? what
                       : by_place_.empty()
                           ? what + are_names()
                           : fmt::format("{}, as edges go {}: {} chooses others, {} takes ids for names",
                                         what, by_place_, opt::columns("SOURCE,TARGET"), opt::labels));
    }
    return value;
  }

  /// Returns whether a line is blank or a comment. A name may begin as a comment does.
  bool is_skipped(const Piece& piece, std::string_view line) const {
    const std::string_view text = trimmed(line);
    if (text.empty()) return true;
    if (!is_comment(line.data(), line.data() + line.size())) return false;
    return !look_.names || is_comment_beside_names(input_, piece, text);
  }

  void split(const Piece& piece, std::string_view line, Line& fields) const {
    if (!split_fields(line, columns_.separator, fields))
      input_.fail_line(piece, line.data(), "a quoted field does not end before its separator or line end");
  }

  /// Sets columns_, whose separator is known, from the first line. Returns whether it is a header.
  bool choose_columns(const Piece& piece, std::string_view line) {
    Line first;
    split(piece, line, first);
    for (std::string_view& field : first) field = trimmed(field);
    columns_.fields = first.size();
    bool header = look_.names ? look_.header : first.size() < 2 || !is_whole(first[0]) || !is_whole(first[1]);
    try {
      if (!conversion_.wanted.columns.empty()) {
        header = named_columns(first);
      } else if (!header && (first.size() == 2 || first.size() == 3)) {
        columns_.source = 0;
        columns_.target = 1;
        if (first.size() == 3) columns_.weight = 2;
      } else {
        known_columns(first, header);
      }
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      const std::string said = error.what();
      input_.fail_line(piece, line.data(),
                       said.ends_with(which_columns()) && !look_.names ? said + are_names() : said);
    }
    if (header) columns_.type = type_column(first).value_or(kNone);
    if (!conversion_.options.weighted) columns_.weight = kNone;
    if (columns_.weight != kNone && conversion_.wanted.columns.empty() && !header)
      conversion_.options.column =
          third_column(piece.text.substr(0, static_cast<std::size_t>(line.data() - piece.text.data())));
    return header;
  }

  /// Chooses columns by the header, as all tables are read.
  void known_columns(const Line& first, bool header) {
    if (!header) throw Error(which_columns());
    const EdgeColumns found = find_edge_columns(first, conversion_.options.weighted);
    if (found.by_place && (is_data(first[found.source]) || is_data(first[found.target])))
      throw Error(which_columns());
    columns_.source = found.source;
    columns_.target = found.target;
    columns_.weight = found.weight.value_or(kNone);
    note_ = found.note;
    if (found.by_place)
      by_place_ = fmt::format("from {:.40} to {:.40}", first[found.source], first[found.target]);
  }

  /// Sets the columns that --columns chooses. Returns whether the first line is a header.
  bool named_columns(const Line& first) {
    const ChosenColumns chosen = chosen_columns(conversion_.wanted.columns);
    columns_.source = find_column(first, chosen.columns[0]);
    columns_.target = find_column(first, chosen.columns[1]);
    if (chosen.has_weight()) columns_.weight = find_column(first, chosen.columns[2]);
    if (columns_.source == columns_.target)
      throw UsageError(fmt::format("{}: source and target are the same column", opt::columns));
    if (look_.names) return look_.header;
    return chosen.by_name() || !is_whole(first[columns_.source]) || !is_whole(first[columns_.target]);
  }

  Conversion& conversion_;
  Input& input_;
  const FirstLines& look_;
  Columns columns_;
  std::string note_;                                    // note on the columns
  std::string by_place_;                                // ends of the edges where no name tells them
  std::atomic<std::uint64_t> rows_{0}, undirected_{0};  // numbers of rows, see RowCount
};

}  // namespace

bool names_edges(std::string_view line) {
  Line header;
  return split_trimmed(line, separator_of(line), header) && names_edges(header);
}

BuildSummary read_table(Conversion conversion) { return TableReader(conversion).read(); }

}  // namespace edgewire::graph
