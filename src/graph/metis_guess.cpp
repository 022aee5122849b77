#include "graph/metis_guess.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace edgewire::graph {

namespace {

using Numbers = std::vector<double>;

/// Cuts one line off `text` and reads its numbers; false where something else stands there.
bool next_numbers(std::string_view& text, Numbers& numbers) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const char* at = text.data();
  const char* const line_end = at + end;
  text.remove_prefix(std::min(end + 1, text.size()));
  numbers.clear();
  for (;;) {
    at = std::find_if(at, line_end, [](char c) { return c != ' ' && c != '\t' && c != '\r'; });
    if (at == line_end) return true;
    const auto [after, error] = std::from_chars(at, line_end, numbers.emplace_back());
    if (error != std::errc()) return false;
    at = after;
  }
}

bool is_whole_number(double number, double least, double most) {
  return number >= least && number <= most &&
         number == static_cast<double>(static_cast<std::uint64_t>(number));
}

/// The header and the lines of vertices, as far as they are there.
class Graph {
 public:
  /// False where METIS has no such first line.
  bool take_header(const Numbers& header) {
    constexpr double kMost = 1e15;
    if (header.size() < 2 || header.size() > 4) return false;
    const double n = header[0], m = header[1], format = header.size() > 2 ? header[2] : 0;
    if (!is_whole_number(n, 1, kMost) || !is_whole_number(m, 1, std::min(kMost, n * (n - 1) / 2)))
      return false;
    if (!is_whole_number(format, 0, 111)) return false;
    const auto digits = static_cast<int>(format);
    if (digits % 10 > 1 || digits / 10 % 10 > 1) return false;
    if (header.size() == 4 && !is_whole_number(header[3], 0, 100)) return false;
    counts = {static_cast<std::uint64_t>(n), static_cast<std::uint64_t>(m)};
    weighted_ = digits % 10 == 1;
    const double weights = header.size() == 4 ? header[3] : digits / 10 % 10;
    skipped_ = static_cast<std::size_t>(digits / 100) + static_cast<std::size_t>(weights);
    fields_ = header.size();
    return true;
  }

  /// The line of the next vertex; false where it is none.
  bool take_row(const Numbers& line) {
    const std::size_t step = weighted_ ? 2 : 1;
    if (rows_.size() == counts.vertices) return line.empty();
    if (line.size() < skipped_ || (line.size() - skipped_) % step != 0) return false;
    auto& row = rows_.emplace_back();
    const double self = static_cast<double>(rows_.size());
    for (std::size_t i = skipped_; i < line.size(); i += step) {
      if (!is_whole_number(line[i], 1, static_cast<double>(counts.vertices)) || line[i] == self) return false;
      row.emplace_back(static_cast<std::uint64_t>(line[i]), weighted_ ? line[i + 1] : 0);
    }
    std::ranges::sort(row);
    neighbours_ += row.size();
    alike_ = alike_ && line.size() == fields_ && row.size() == rows_[0].size();
    return std::ranges::adjacent_find(row, {}, &Neighbour::first) == row.end();
  }

  /// Whether the counts are right, and each edge is in both lines, as far as these are there.
  bool holds(bool whole) const {
    // The line of a last vertex without neighbours may lack its end, and then is nothing.
    if (whole && (rows_.size() + 1 < counts.vertices || neighbours_ != 2 * counts.edges)) return false;
    // Lines that edges could have as well are all alike.
    if (!whole && (rows_.empty() || (alike_ && 2 * counts.edges != counts.vertices * rows_[0].size())))
      return false;
    for (std::uint64_t v = 1; v <= rows_.size(); ++v)
      for (const auto& [neighbour, weight] : rows_[v - 1])
        if (neighbour <= rows_.size() &&
            !std::ranges::binary_search(rows_[neighbour - 1], Neighbour{v, weight}))
          return false;
    return true;
  }

  MetisCounts counts{};

 private:
  using Neighbour = std::pair<std::uint64_t, double>;  ///< and the weight of the edge
  bool weighted_ = false, alike_ = true;
  std::size_t skipped_ = 0, fields_ = 0;
  std::uint64_t neighbours_ = 0;
  std::vector<std::vector<Neighbour>> rows_;
};

}  // namespace

std::optional<MetisCounts> metis_graph_in(std::string_view text, bool whole) {
  if (!whole) text = text.substr(0, text.rfind('\n') + 1);  // the last line may go on
  Graph graph;
  Numbers numbers;
  bool has_header = false;
  while (!text.empty()) {
    if (text.starts_with('%')) {
      text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
      continue;
    }
    if (!next_numbers(text, numbers)) return std::nullopt;
    if (!(has_header ? graph.take_row(numbers) : graph.take_header(numbers))) return std::nullopt;
    has_header = true;
  }
  if (!has_header || !graph.holds(whole)) return std::nullopt;
  return graph.counts;
}

}  // namespace edgewire::graph
