// Tables of edges: CSV and its relatives, with a header or without.
#pragma once

#include <string_view>
#include <vector>

namespace edgewire::graph {

/// Cuts a line into fields, without quotes and without blanks outside of them. `separator` ' ' stands for any
/// run of spaces and tabs. Returns false when a quoted field does not end as it should.
bool split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields);

/// What separates the fields of a header line: the one of tab ; | , that it has most of, else spaces.
char separator_of(std::string_view line);

/// Whether a line is a header that calls a column source (or src, from) and one target (or dst, dest, to).
bool names_edges(std::string_view line);

}  // namespace edgewire::graph
