// Edge lines of formats whose header says how many vertices and edges there are, with ids from 1 on: Matrix
// Market and DIMACS.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>

#include "base/error.h"
#include "graph/file/format.h"
#include "graph/read/edge_lines.h"
#include "graph/read/readers.h"
#include "graph/read/text_lines.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

struct CountedEdges {
  std::uint64_t vertices = 0;
  std::uint64_t entries = 0;  ///< number of lines that hold an edge
  bool weighted = false;      ///< whether each line has a weight
  bool symmetric = false;     ///< whether each edge also goes the other way
  bool negated = false;       ///< whether each edge also goes the other way, with its weight negated
  LineShape shape;            ///< shape of lines; ids and weights are filled in by read_edges()
  std::string_view header;    ///< name of the line with the counts, for messages
};

/// Adds each edge the other way, its weight negated; self loops, which weigh 0, are there already.
void add_negated(EdgeSink& sink, int worker, const ParsedEdges& edges) {
  const std::vector<std::uint64_t> ids = edges.all_ids();
  std::vector<std::uint64_t> turned;
  WeightList weights;
  for (std::size_t i = 0; i < ids.size(); i += 2) {
    if (ids[i] == ids[i + 1]) continue;
    turned.insert(turned.end(), {ids[i + 1], ids[i]});
    weights.add(-edges.weights.view()[i / 2]);
  }
  sink.add(worker, turned, weights.view());
}

/// Reads the edges that follow `line`, which has the counts, and writes the graph. Vertices keep their ids, 1
/// to `vertices`; where few have edges, only those become vertices. `lines` takes its lines from `first`.
BuildSummary read_edges(Conversion& conversion, HeaderLines& lines, const Piece& first, std::string_view line,
                        CountedEdges counted) {
  Input& input = conversion.input;
  refuse_more(input, first, line, counted.vertices, counted.entries);
  constexpr std::uint64_t kShortestEntry = 4;  // "1 1\n"
  if (!input.streamed() && counted.entries > input.file_bytes() / kShortestEntry + 1)
    input.fail_line(first, line.data(), fmt::format("the file is too short for {} entries", counted.entries));
  lines.finish();
  BuildOptions& options = conversion.options;
  const bool sparse = !options.keep_ids && are_sparse(counted.vertices, counted.entries);
  options.weighted = options.weighted && counted.weighted;
  options.undirected = options.undirected || counted.symmetric;
  LineShape& shape = counted.shape;
  shape.min_id = 1;
  shape.max_id = counted.vertices;
  shape.origin = sparse ? 0 : 1;
  shape.weighted = options.weighted;
  shape.rounded = &conversion.rounded;
  start(conversion,
        {.numbering = sparse ? GraphShape::Numbering::dense : GraphShape::Numbering::counted,
         .vertices = counted.vertices,
         .expected_edges = counted.entries,
         .first_id = shape.origin},
        [&] { return sample_sources(conversion.inputs, shape); });
  EdgeSink& sink = conversion.edges;
  std::atomic<std::uint64_t> entries{0};  // read after the workers have ended
  const auto take = [&](int worker, const ParsedEdges& edges) {
    edges.add_to(sink, worker);
    if (counted.negated) add_negated(sink, worker, edges);
    entries.fetch_add(edges.size(), std::memory_order_relaxed);
  };
  each_edge_piece(conversion, conversion.inputs, shape, first, take);
  const std::uint64_t found = sink.sum(entries.load(std::memory_order_relaxed));
  if (found != counted.entries)
    input.fail(
        fmt::format("the file has {} entries but its {} says {}", found, counted.header, counted.entries));
  BuildSummary summary = sink.write(0, conversion.progress);
  summary.compacted = sparse;
  return summary;
}

void read_banner(const Input& input, const Piece& piece, std::string_view line, bool weights,
                 CountedEdges& header) {
  std::string lower(line);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  Fields words(input, piece, lower);
  const auto banner = words.word(), object = words.word(), layout = words.word(), field = words.word(),
             symmetry = words.word();
  const auto refuse = [&](const char* what, std::string_view word) {
    input.fail_line(piece, line.data(), fmt::format("Matrix Market {} '{}' is not supported", what, word));
  };
  if (banner != "%%matrixmarket")
    input.fail_line(piece, line.data(), "the first line does not begin with %%MatrixMarket");
  if (object != "matrix") refuse("object", object);
  if (layout == "array")
    input.fail_line(piece, line.data(), "Matrix Market 'array' is a dense matrix; 'coordinate' is supported");
  if (layout != "coordinate") refuse("layout", layout);
  const bool complex = field == "complex";
  if (complex && weights)
    input.fail_line(piece, line.data(),
                    "weights are real numbers, but this matrix is complex" +
                        opt::no_weights.hint("; {} reads its entries alone"));
  constexpr std::array<std::string_view, 5> kFields = {"pattern", "real", "double", "integer",
                                                       "unsigned-integer"};
  if (!complex && std::ranges::find(kFields, field) == kFields.end()) refuse("field", field);
  const bool hermitian = symmetry == "hermitian" && complex;
  if (!hermitian && symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
    refuse("symmetry", symmetry);
  header.weighted = field != "pattern";
  header.shape.fields = complex ? 4 : header.weighted ? 3 : 2;
  // Without weights the negated entry on the other side is an edge like all others.
  header.negated = symmetry == "skew-symmetric" && header.weighted && weights;
  header.shape.zero_loops = symmetry == "skew-symmetric";
  header.symmetric = symmetry != "general" && !header.negated;
}

void read_size(const Input& input, const Piece& piece, std::string_view line, CountedEdges& header) {
  Fields fields(input, piece, line);
  const auto rows = fields.number(), columns = fields.number(), entries = fields.number();
  if (!rows || !columns || !entries)
    input.fail_line(piece, line.data(), "expected the size line: ROWS COLUMNS ENTRIES");
  if (fields.more()) fields.fail("expected nothing after ROWS COLUMNS ENTRIES");
  if (*rows != *columns)
    input.fail_line(piece, line.data(),
                    fmt::format("a matrix of {} x {} is not square, so it is no graph", *rows, *columns));
  header.vertices = *rows;
  header.entries = *entries;
}

/// Reads the line "p sp VERTICES ARCS".
void read_problem(const Input& input, const Piece& piece, std::string_view line, CountedEdges& counted) {
  Fields fields(input, piece, line);
  if (fields.word() != "p")
    input.fail_line(piece, line.data(), "expected 'p sp VERTICES ARCS' before the first arc");
  if (const std::string_view problem = fields.word(); problem != "sp")
    input.fail_line(piece, line.data(),
                    fmt::format("DIMACS problem '{}' is not supported; 'p sp' is (shortest paths)", problem));
  const auto vertices = fields.number(), arcs = fields.number();
  if (!vertices || !arcs || fields.more())
    input.fail_line(piece, line.data(), "expected two whole numbers: p sp VERTICES ARCS");
  counted.vertices = *vertices;
  counted.entries = *arcs;
}

}  // namespace

BuildSummary read_matrix_market(Conversion conversion) {
  Input& input = conversion.input;
  Piece first;
  HeaderLines lines(input, first);
  std::string_view line;
  CountedEdges header;
  header.header = "size line";
  if (!lines.next(line)) throw Error(fmt::format("{}: the file is empty", input.path()));
  read_banner(input, first, line, conversion.options.weighted, header);
  do {
    if (!lines.next(line)) input.fail("the file ends before its size line");
  } while (line.starts_with('%') || trimmed(line).empty());
  read_size(input, first, line, header);
  return read_edges(conversion, lines, first, line, header);
}

BuildSummary read_dimacs(Conversion conversion) {
  Input& input = conversion.input;
  Piece first;
  HeaderLines lines(input, first);
  std::string_view line;
  CountedEdges header;
  header.header = "line p";
  header.weighted = true;
  header.shape.mark = 'a';
  header.shape.fields = 4;
  const auto is_comment = [&] { return line == "c" || line.starts_with("c ") || line.starts_with("c\t"); };
  do {
    if (!lines.next(line)) input.fail("the file ends before its line 'p sp VERTICES ARCS'");
  } while (is_comment() || trimmed(line).empty());
  read_problem(input, first, line, header);
  return read_edges(conversion, lines, first, line, header);
}

}  // namespace edgewire::graph
