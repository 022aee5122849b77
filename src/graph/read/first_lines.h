// Fields of the lines of tables, and what the first lines of tables and edge lists tell of names and headers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/convert.h"
#include "graph/read/input.h"

namespace edgewire::graph {

using Line = std::vector<std::string_view>;

/// Cuts a line into fields, without quotes and without blanks outside of them. `separator` ' ' stands for any
/// run of spaces and tabs. Returns false when a quoted field does not end as it should.
bool split_fields(std::string_view line, char separator, Line& fields);
/// Does the same, and takes away blanks within quotes as well.
bool split_trimmed(std::string_view line, char separator, Line& fields);
/// Returns the separator of a first line: a tab if it has one, else what it has most of ; | , or else spaces.
char separator_of(std::string_view line);
/// Returns the separator of names in an edge list where --labels says that there are names.
char separator_of_names(std::string_view line);
/// Returns the separator that a first line such as sep=; tells to spreadsheets; none for other lines.
std::optional<char> told_separator(std::string_view line);

/// The columns that --columns chooses: names or numbers of source, target and maybe weight; empty: none.
struct ChosenColumns {
  Line columns;

  bool has_weight() const noexcept { return columns.size() == 3; }
  /// Returns whether edges go from the first field to the second one.
  bool are_first_ends() const { return columns.size() > 1 && columns[0] == "1" && columns[1] == "2"; }
  /// Returns whether they are the first two or three fields, as in edge lists.
  bool are_first_fields() const { return are_first_ends() && (!has_weight() || columns[2] == "3"); }
  /// Returns whether one of them is called by its name.
  bool by_name() const;
};
/// Parses `columns`, the text of the option, to which the result points. Throws UsageError where it is not
/// SOURCE,TARGET[,WEIGHT].
ChosenColumns chosen_columns(std::string_view columns);

/// The facts in the first lines.
struct FirstLines {
  bool names = false;    ///< whether ids are names
  bool guessed = false;  ///< whether this is a guess: then no id may be a number
  bool header = false;   ///< whether the first line names the columns, where ids are names
  bool sure = false;     ///< whether --columns or a known pair of names tells the header
  bool table = false;    ///< whether only the reader of tables reads it, where ids are names
  char separator = 0;    ///< separator where ids are names; 0: no edge is in these lines
};

/// Looks at what comes next in an edge list or a table, without moving on. Ids are names where `options` say
/// so, or where neither end of the first edge is a number. Throws Error where the first line may be an edge
/// as well as a header.
FirstLines first_lines(Input& input, const ConvertOptions& options);

/// Returns the words of a message about ids that were taken for names.
std::string note_of_names(const FirstLines& lines);
/// Throws Error for an id that is a number beside others that were taken for names.
[[noreturn]] void refuse_number(const Input& input, const Piece& piece, std::string_view id, const char* at);

}  // namespace edgewire::graph
