#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "graph/file/format.h"
#include "graph/read/readers.h"
#include "graph/read/text_lines.h"

namespace edgewire::graph {

namespace {

/// The first line: "VERTICES EDGES [FMT [NCON]]". The digits of FMT say whether a vertex has a size, whether
/// it has NCON weights, and whether a neighbour has a weight after it.
struct MetisHeader {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;          ///< number of edges; each is in the lines of both its ends
  std::uint64_t fields = 2;         ///< number of fields of the line
  std::uint64_t vertex_fields = 0;  ///< number of fields before the first neighbour
  bool edge_weights = false;
};

MetisHeader header_of(const Input& input, const Piece& piece, std::string_view line) {
  Fields fields(input, piece, line);
  MetisHeader header;
  header.vertices = fields.whole("METIS's first line, VERTICES EDGES [FMT [NCON]]");
  header.edges = fields.whole("the number of edges");
  std::uint64_t format = 0;
  if (fields.more()) {
    format = fields.whole("FMT, such as 1, 11 or 011");
    ++header.fields;
  }
  std::array<std::uint64_t, 3> digits = {format / 100, format / 10 % 10, format % 10};
  if (std::any_of(digits.begin(), digits.end(), [](std::uint64_t digit) { return digit > 1; }))
    input.fail_line(piece, line.data(), fmt::format("FMT {} has other digits than 0 and 1", format));
  std::uint64_t weights = digits[1];
  if (fields.more()) {
    weights = fields.whole("NCON, the number of weights of a vertex");
    ++header.fields;
    if (weights > 0 && digits[1] == 0)
      input.fail_line(piece, line.data(), "NCON is given, but FMT says that vertices have no weights");
  }
  if (fields.more()) fields.fail("expected nothing after VERTICES EDGES FMT NCON");
  header.vertex_fields = digits[0] + weights;
  header.edge_weights = digits[2] == 1;
  refuse_more(input, piece, line, header.vertices, header.edges);
  return header;
}

MetisHeader read_header(Input& input, Piece& piece) {
  HeaderLines lines(input, piece);
  std::string_view line;
  do {
    if (!lines.next(line)) input.fail("the file ends before its line 'VERTICES EDGES'");
  } while (line.starts_with('%'));
  const MetisHeader header = header_of(input, piece, line);
  // A vertex takes a line end, a neighbour "1 ".
  if (!input.streamed() && std::max(header.vertices, header.edges * 4) > input.file_bytes() + 1)
    input.fail_line(
        piece, line.data(),
        fmt::format("the file is too short for {} vertices and {} edges", header.vertices, header.edges));
  lines.finish();
  return header;
}

/// Returns whether a line of the piece has a neighbour 0: its vertices count from 0.
bool counts_from_0(const MetisHeader& header, const Input& input, const Piece& piece) {
  for (std::string_view rest = piece.text; !rest.empty();) {
    const std::string_view line = cut_line(rest);
    if (line.starts_with('%')) continue;
    Fields fields(input, piece, line);
    for (std::uint64_t i = 0; i < header.vertex_fields; ++i) fields.word();
    while (fields.more()) {
      if (fields.word() == "0") return true;
      if (header.edge_weights) fields.word();
    }
  }
  return false;
}

/// Calls take(neighbour, weight) for each neighbour in the line of a vertex; vertices count from 0. Weights
/// are read by `weights`; null: they are skipped.
template <class Take>
void each_neighbour(const MetisHeader& header, const Input& input, const Piece& piece, std::string_view line,
                    std::uint64_t vertex, WeightReader* weights, const Take& take) {
  Fields fields(input, piece, line);
  if (vertex >= header.vertices) {
    if (fields.more()) fields.fail(fmt::format("a line more than the {} vertices have", header.vertices));
    return;
  }
  for (std::uint64_t i = 0; i < header.vertex_fields; ++i) {
    if (!fields.more()) fields.fail("the line ends where a size or weight of the vertex should be");
    fields.word();
  }
  while (fields.more()) {
    const Fields before = fields;
    const std::uint64_t neighbour = fields.whole("a neighbour (a whole number)");
    const bool own = neighbour == vertex + 1;
    if (neighbour == 0 || (own && counts_from_0(header, input, piece)))
      before.fail(fmt::format(
          "neighbour {}: METIS counts vertices from 1, but this file seems to count from 0: add 1 to each",
          neighbour));
    if (neighbour > header.vertices)
      before.fail(fmt::format("neighbour {} is not within 1 to {}", neighbour, header.vertices));
    if (own) before.fail("a vertex is its own neighbour; METIS has no self loops");
    if (header.edge_weights && !fields.more()) fields.fail("the weight of the last edge is missing");
    const std::string_view text = header.edge_weights ? fields.word() : std::string_view();
    take(static_cast<PlainId>(neighbour - 1),
         header.edge_weights && weights != nullptr ? weights->read(text) : Weight());
  }
}

std::uint64_t comment_lines(std::string_view text) {
  std::uint64_t count = text.starts_with('%') ? 1 : 0;
  for (std::size_t at = text.find("\n%"); at != text.npos; at = text.find("\n%", at + 2)) ++count;
  return count;
}

struct MetisReader {
  Conversion& conversion;
  const MetisHeader& header;
  Input& input = conversion.input;
  std::mutex mutex{};  // orders the pieces, with their numbers
  std::uint64_t vertices = 0;
  bool ends_open = false;
  // Read after the workers have ended.
  std::atomic<std::uint64_t> all_neighbours{0}, asymmetry{0};

  /// Numbers the vertices of a piece: pieces are taken in the order of the file.
  void number(Piece& piece) {
    piece.record = vertices;
    const auto ends = static_cast<std::uint64_t>(std::count(piece.text.begin(), piece.text.end(), '\n'));
    const bool open = !piece.text.empty() && piece.text.back() != '\n';  // the last line may lack its end
    vertices += ends + (open ? 1 : 0) - comment_lines(piece.text);
    ends_open = open;
  }
  bool next(Piece& piece) {
    const std::lock_guard lock(mutex);
    if (!input.next_lines(piece)) return false;
    number(piece);
    return true;
  }

  void take(int worker, const Piece& piece) {
    std::uint64_t neighbours = 0, difference = 0;  // the latter is 0 in sum over both directions of all edges
    std::uint64_t vertex = piece.record;
    const bool weighted = conversion.options.weighted;
    WeightReader reader(input, piece, &conversion.rounded);
    std::vector<std::uint64_t> ids;
    WeightList weights;
    for (std::string_view rest = piece.text; !rest.empty();) {
      const std::string_view line = cut_line(rest);
      if (line.starts_with('%')) continue;
      const auto source = static_cast<PlainId>(vertex);
      ids.clear();
      weights.clear();
      each_neighbour(header, input, piece, line, vertex, weighted ? &reader : nullptr,
                     [&](PlainId target, Weight weight) {
                       ids.push_back(source);
                       ids.push_back(target);
                       if (weighted) weights.add(weight);
                       difference += edge_hash(source, target, weight) - edge_hash(target, source, weight);
                     });
      conversion.edges.add(worker, ids, weights.view());
      neighbours += ids.size() / 2;
      ++vertex;
    }
    all_neighbours.fetch_add(neighbours, std::memory_order_relaxed);
    asymmetry.fetch_add(difference, std::memory_order_relaxed);
  }

  BuildSummary write() {
    // The line of the last vertex, where it has no neighbours, may lack its end, and is then empty.
    if (vertices + (ends_open ? 0 : 1) < header.vertices)
      input.fail(fmt::format("the file has lines for {} vertices but its first line says {}", vertices,
                             header.vertices));
    const std::uint64_t neighbours = all_neighbours.load(std::memory_order_relaxed);
    if (neighbours != header.edges * 2)
      input.fail(fmt::format(
          "the file names {} neighbours, but its first line says {} edges, each of which is there twice",
          neighbours, header.edges));
    if (asymmetry.load(std::memory_order_relaxed) != 0)
      input.fail(
          "some edge is only in the line of one of its ends, or has two weights; METIS has each "
          "edge in the lines of both");
    return conversion.edges.write(kSymmetric, conversion.progress);
  }
};

/// The neighbours of vertices from the first one on, sorted, with the weights of the edges.
using Rows = std::vector<std::vector<std::pair<PlainId, double>>>;

/// Returns whether each edge is in the lines of both its ends, as far as these are there.
bool are_symmetric(const Rows& rows) {
  for (std::size_t v = 0; v < rows.size(); ++v)
    for (const auto& [neighbour, weight] : rows[v])
      if (neighbour < rows.size() &&
          !std::ranges::binary_search(rows[neighbour], std::pair(static_cast<PlainId>(v), weight)))
        return false;
  return true;
}

}  // namespace

BuildSummary read_metis(Conversion conversion) {
  Piece first;
  const MetisHeader header = read_header(conversion.input, first);
  BuildOptions& options = conversion.options;
  options.weighted = options.weighted && header.edge_weights;
  options.undirected = false;  // both ways are there already
  start(conversion,
        {.numbering = GraphShape::Numbering::counted,
         .vertices = header.vertices,
         .expected_edges = header.edges * 2,
         .first_id = 1},
        [] { return std::vector<std::uint64_t>(); });
  MetisReader reader{conversion, header};
  reader.number(first);
  reader.take(0, first);
  Input::each_piece(
      conversion.inputs, options.workers, conversion.progress,
      [&](Input&, Piece& piece) { return reader.next(piece); },
      [&](Input&, int worker, const Piece& piece) { reader.take(worker, piece); });
  return reader.write();
}

std::optional<MetisCounts> metis_graph_in(Input& input, bool whole) try {
  Piece piece;
  piece.text = input.peek();
  // The last line of a beginning may go on.
  std::string_view text = whole ? piece.text : piece.text.substr(0, piece.text.rfind('\n') + 1);
  WeightReader reader(input, piece, nullptr);
  std::optional<MetisHeader> header;
  Rows rows;
  std::uint64_t neighbours = 0;
  bool alike = true;  // whether edges could have such lines as well
  while (!text.empty()) {
    const std::string_view line = cut_line(text);
    if (line.starts_with('%')) continue;
    if (!header) {
      header = header_of(input, piece, line);
      const auto vertices = static_cast<double>(header->vertices), edges = static_cast<double>(header->edges);
      if (edges < 1 || edges > vertices * (vertices - 1) / 2) return std::nullopt;
      continue;
    }
    Rows::value_type row;
    each_neighbour(*header, input, piece, line, rows.size(), &reader,
                   [&](PlainId target, Weight weight) { row.emplace_back(target, weight.number()); });
    if (rows.size() == header->vertices) continue;
    std::ranges::sort(row);
    const auto same = [](const auto& one, const auto& other) { return one.first == other.first; };
    if (std::ranges::adjacent_find(row, same) != row.end()) return std::nullopt;
    neighbours += row.size();
    rows.push_back(std::move(row));
    const std::size_t size = rows.back().size(), fields = size * (header->edge_weights ? 2 : 1);
    alike = alike && header->vertex_fields + fields == header->fields && size == rows[0].size();
  }
  if (!header) return std::nullopt;
  // The line of the last vertex, where it has no neighbours, may lack its end, and is then empty.
  if (whole && (rows.size() + 1 < header->vertices || neighbours != 2 * header->edges)) return std::nullopt;
  if (!whole && (rows.empty() || (alike && 2 * header->edges != header->vertices * rows[0].size())))
    return std::nullopt;
  if (!are_symmetric(rows)) return std::nullopt;
  return MetisCounts{header->vertices, header->edges};
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace edgewire::graph
