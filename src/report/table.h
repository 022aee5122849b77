// This file has tables, which text, pages and CSV show in their own ways.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgewire::report {

struct Table {
  std::vector<std::string> header;
  /// The alignment of the first columns: '<' for text, '>' for figures, as all other columns are.
  std::string alignment = "<";
  std::vector<std::vector<std::string>> rows{};

  bool has_text(std::size_t column) const { return column < alignment.size() && alignment[column] == '<'; }
};

/// Returns a line for the header and for each row. Columns are as wide as their content.
std::string to_text(const Table& table);

/// Returns a cell of CSV that holds any text (RFC 4180).
std::string csv_quoted(std::string_view text);

}  // namespace edgewire::report
