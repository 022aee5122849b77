// Tables, which text, pages and CSV show in their own ways.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace edgewire::report {

struct Table {
  std::vector<std::string> header;
  /// A character for each of the first columns: '<' is for text, left-aligned, and '>' for figures, which all
  /// others have.
  std::string alignment = "<";
  std::vector<std::vector<std::string>> rows{};

  bool has_text(std::size_t column) const { return column < alignment.size() && alignment[column] == '<'; }
};

/// A line for the header and for each row. Columns are as wide as what they hold.
std::string to_text(const Table& table);

/// A cell of CSV that holds any text (RFC 4180).
std::string csv_quoted(std::string_view text);

}  // namespace edgewire::report
