#include "report/table.h"

#include <fmt/core.h>

#include <algorithm>

namespace edgewire::report {

std::string to_text(const Table& table) {
  std::vector<std::vector<std::string>> lines{table.header};
  lines.insert(lines.end(), table.rows.begin(), table.rows.end());
  std::vector<std::size_t> widths(table.header.size());
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      text += fmt::format(fmt::runtime(table.has_text(i) ? "{:<{}}  " : "{:>{}}  "), line[i], widths[i]);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string csv_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) result.append(letter == '"' ? 2 : 1, letter);
  return result + "\"";
}

}  // namespace edgewire::report
