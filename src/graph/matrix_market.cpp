#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>
#include <string>

#include "base/error.h"
#include "graph/counted_edges.h"
#include "graph/header_lines.h"

namespace edgewire::graph {

namespace {

struct MatrixHeader : CountedEdges {
  bool symmetric = false;
};

void read_banner(const Input& input, std::string_view line, bool weights, MatrixHeader& header) {
  std::string lower(line);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::istringstream words(lower);
  std::string banner;
  std::string object;
  std::string layout;
  std::string field;
  std::string symmetry;
  words >> banner >> object >> layout >> field >> symmetry;
  const auto refuse = [&](const char* what, const std::string& word) {
    input.fail(0, fmt::format("Matrix Market {} '{}' is not supported", what, word));
  };
  if (banner != "%%matrixmarket") input.fail(0, "the first line does not begin with %%MatrixMarket");
  if (object != "matrix") refuse("object", object);
  if (layout == "array") input.fail(0, "Matrix Market 'array' is a dense matrix; 'coordinate' is supported");
  if (layout != "coordinate") refuse("layout", layout);
  const bool complex = field == "complex";
  if (complex && weights) {
    input.fail(0,
               "weights are real numbers, but this matrix is complex; --no-weights reads its entries alone");
  }
  if (!complex && field != "pattern" && field != "real" && field != "integer") refuse("field", field);
  const bool hermitian = symmetry == "hermitian" && complex;
  if (!hermitian && symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric") {
    refuse("symmetry", symmetry);
  }
  header.weighted = field != "pattern";
  header.shape.fields = complex ? 4 : header.weighted ? 3 : 2;
  // Without weights the negated entry on the other side is an edge like all others.
  header.negated = symmetry == "skew-symmetric" && header.weighted && weights;
  header.shape.no_loops = symmetry == "skew-symmetric";
  header.symmetric = symmetry != "general" && !header.negated;
}

void read_size(const Input& input, const Piece& piece, std::string_view line, MatrixHeader& header) {
  std::uint64_t numbers[3] = {};
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::uint64_t& number : numbers) {
    while (at != end && (*at == ' ' || *at == '\t')) ++at;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc())
      input.fail_line(piece, line.data(), "expected the size line: ROWS COLUMNS ENTRIES");
    at = after;
  }
  while (at != end && (*at == ' ' || *at == '\t')) ++at;
  if (at != end) input.fail_line(piece, at, "expected nothing after ROWS COLUMNS ENTRIES");
  if (numbers[0] != numbers[1]) {
    input.fail_line(piece, line.data(),
                    fmt::format("a matrix of {} x {} is not square: not a graph", numbers[0], numbers[1]));
  }
  header.vertices = numbers[0];
  header.entries = numbers[2];
  check_counts(input, piece, line, header);
}

MatrixHeader read_header(Input& input, Piece& piece, bool weights) {
  MatrixHeader header;
  header.header = "size line";
  HeaderLines lines(input, piece);
  std::string_view line;
  if (!lines.next(line)) throw Error(fmt::format("{}: the file is empty", input.path()));
  read_banner(input, line, weights, header);
  do {
    if (!lines.next(line)) input.fail(input.offset(), "the file ends before its size line");
  } while (line.starts_with('%') || line.find_first_not_of(" \t") == std::string_view::npos);
  read_size(input, piece, line, header);
  lines.finish();
  return header;
}

}  // namespace

BuildSummary read_matrix_market(Conversion conversion) {
  Piece first;
  const MatrixHeader header = read_header(conversion.input, first, conversion.options.weighted);
  conversion.options.undirected = conversion.options.undirected || header.symmetric;
  return read_counted_edges(conversion, first, header);
}

}  // namespace edgewire::graph
