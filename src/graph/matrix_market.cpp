#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "error.h"
#include "graph/available_memory.h"
#include "graph/edge_lines.h"
#include "graph/format.h"
#include "graph/readers.h"

namespace edgewire::graph {

namespace {

/// The lines before the entries, taken from the first pieces.
class HeaderLines {
 public:
  HeaderLines(Input& input, Piece& piece) : input_(input), piece_(piece) {}

  /// False at the end of the file. `line` points into the piece.
  bool next(std::string_view& line) {
    if (at_ == piece_.text.size()) {
      at_ = 0;
      if (!input_.next_lines(piece_)) return false;
    }
    const std::size_t end = std::min(piece_.text.find('\n', at_), piece_.text.size());
    line = piece_.text.substr(at_, end - at_);
    at_ = std::min(end + 1, piece_.text.size());
    if (line.ends_with('\r')) line.remove_suffix(1);
    return true;
  }

  /// Leaves in the piece what was not taken.
  void finish() {
    const std::string_view taken = piece_.text.substr(0, at_);
    piece_.offset += at_;
    piece_.line += static_cast<std::uint64_t>(std::count(taken.begin(), taken.end(), '\n'));
    piece_.text.remove_prefix(at_);
  }

 private:
  Input& input_;
  Piece& piece_;
  std::size_t at_ = 0;
};

struct MatrixHeader {
  bool weighted = false;
  bool symmetric = false;
  std::uint64_t vertices = 0;
  std::uint64_t entries = 0;
};

void read_banner(const Input& input, std::string_view line, MatrixHeader& header) {
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
  if (layout != "coordinate") refuse("layout", layout);
  if (field != "pattern" && field != "real" && field != "integer") refuse("field", field);
  if (symmetry != "general" && symmetry != "symmetric") refuse("symmetry", symmetry);
  header.weighted = field != "pattern";
  header.symmetric = symmetry == "symmetric";
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
  if (numbers[0] > kMaxVertices || numbers[2] > kMaxEdges / 2) {
    input.fail_line(piece, line.data(), "more rows or entries than are supported");
  }
  constexpr std::uint64_t kShortestEntry = 4;  // "1 1\n"
  if (!input.streamed() && numbers[2] > input.file_bytes() / kShortestEntry + 1) {
    input.fail_line(piece, line.data(), fmt::format("the file is too short for {} entries", numbers[2]));
  }
  header.vertices = numbers[0];
  header.entries = numbers[2];
}

MatrixHeader read_header(Input& input, Piece& piece) {
  MatrixHeader header;
  HeaderLines lines(input, piece);
  std::string_view line;
  if (!lines.next(line)) throw Error(fmt::format("{}: the file is empty", input.path()));
  read_banner(input, line, header);
  do {
    if (!lines.next(line)) input.fail(input.offset(), "the file ends before its size line");
  } while (line.starts_with('%') || line.find_first_not_of(" \t") == std::string_view::npos);
  read_size(input, piece, line, header);
  lines.finish();
  return header;
}

}  // namespace

BuildSummary read_matrix_market(Conversion conversion) {
  Input& input = conversion.input;
  BuildOptions& options = conversion.options;
  Piece first;
  const MatrixHeader header = read_header(input, first);
  LineShape shape;
  shape.min_id = 1;
  shape.max_id = header.vertices;
  shape.weighted = header.weighted;
  options.weighted = options.weighted && header.weighted;
  options.undirected = options.undirected || header.symmetric;
  require_memory(input.path(), header.vertices * 16);
  Builder builder(header.vertices, header.entries, options);
  std::atomic<std::uint64_t> entries{0};  // read after the workers have ended
  each_edge_piece(input, options.workers, shape, first, conversion.progress,
                  [&](int worker, const ParsedEdges& edges) {
                    const std::size_t count = edges.ids.size() / 2;
                    for (std::size_t i = 0; i < count; ++i) {
                      builder.add(worker, static_cast<std::uint32_t>(edges.ids[2 * i] - 1),
                                  static_cast<std::uint32_t>(edges.ids[2 * i + 1] - 1),
                                  options.weighted ? edges.weights[i] : 0.0F);
                    }
                    entries.fetch_add(count, std::memory_order_relaxed);
                  });
  const std::uint64_t found = entries.load(std::memory_order_relaxed);
  if (found != header.entries) {
    input.fail(input.offset(),
               fmt::format("the file has {} entries but its size line says {}", found, header.entries));
  }
  std::vector<std::uint64_t> original_ids(header.vertices);
  std::iota(original_ids.begin(), original_ids.end(), std::uint64_t{1});
  return builder.write(conversion.output, original_ids, 0, conversion.progress);
}

}  // namespace edgewire::graph
