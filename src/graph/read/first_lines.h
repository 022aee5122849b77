// Fields of the lines of tables, and what the first lines of a table or an edge list say of it: whether ids
// are names, and whether it has a header.
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
/// Returns what separates the fields of a first line: a tab where it has one, else the one of ; | , that it
/// has most of, else spaces.
char separator_of(std::string_view line);
/// Returns what separates names in an edge list where --labels says that there are some.
char separator_of_names(std::string_view line);
/// Returns the separator of a table whose first line says it for spreadsheets, such as sep=; none for other
/// lines.
std::optional<char> told_separator(std::string_view line);

/// What --columns chooses: the names or numbers of source, target and, as a third one, weight; empty where it
/// chooses nothing.
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
/// `columns`: the text of the option, to which the result points. Throws UsageError where it is not
/// SOURCE,TARGET[,WEIGHT].
ChosenColumns chosen_columns(std::string_view columns);

/// What the first lines say.
struct FirstLines {
  bool names = false;    ///< ids are names
  bool guessed = false;  ///< nobody has said so: each id must be one that is no number
  bool header = false;   ///< where ids are names: the first line names the columns
  bool sure = false;     ///< header: --columns or a pair that is known says so
  bool table = false;    ///< where ids are names: only the reader of tables reads it
  char separator = 0;    ///< where ids are names; 0: no edge is among the lines that were looked at
};

/// Looks at what comes next in an edge list or a table, without moving on. Ids are names where `options` say
/// so, or where neither end of the first edge is a number. Throws Error where the first line may be an edge
/// as well as a header.
FirstLines first_lines(Input& input, const ConvertOptions& options);

/// What a message says of ids that were taken for names.
std::string note_of_names(const FirstLines& lines);
/// Throws Error for an id that is a number beside others that were taken for names.
[[noreturn]] void refuse_number(const Input& input, const Piece& piece, std::string_view id, const char* at);

}  // namespace edgewire::graph
