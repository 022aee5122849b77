#include <fmt/core.h>

#include <sstream>
#include <string>
#include <string_view>

#include "graph/counted_edges.h"
#include "graph/header_lines.h"
#include "graph/readers.h"

namespace edgewire::graph {

namespace {

bool is_comment_or_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos || line == "c" || line.starts_with("c ") ||
         line.starts_with("c\t");
}

/// "p sp VERTICES ARCS"
CountedEdges read_problem(const Input& input, const Piece& piece, std::string_view line) {
  std::istringstream words{std::string(line)};
  std::string p;
  std::string problem;
  std::string rest;
  CountedEdges counted;
  counted.header = "line p";
  words >> p >> problem;
  if (p != "p") input.fail_line(piece, line.data(), "expected 'p sp VERTICES ARCS' before the first arc");
  if (problem != "sp") {
    input.fail_line(piece, line.data(),
                    fmt::format("DIMACS problem '{}' is not supported; 'p sp' is (shortest paths)", problem));
  }
  const bool negative = line.find('-') != std::string_view::npos;
  if (negative || !(words >> counted.vertices >> counted.entries) || words >> rest) {
    input.fail_line(piece, line.data(), "expected two whole numbers: p sp VERTICES ARCS");
  }
  return counted;
}

}  // namespace

BuildSummary read_dimacs(Conversion conversion) {
  Input& input = conversion.input;
  Piece first;
  HeaderLines lines(input, first);
  std::string_view line;
  do {
    if (!lines.next(line)) input.fail(input.offset(), "the file ends before its line 'p sp VERTICES ARCS'");
  } while (is_comment_or_blank(line));
  CountedEdges counted = read_problem(input, first, line);
  check_counts(input, first, line, counted);
  lines.finish();
  counted.weighted = true;
  counted.shape.mark = 'a';
  counted.shape.fields = 4;
  return read_counted_edges(conversion, first, counted);
}

}  // namespace edgewire::graph
