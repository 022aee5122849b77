#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <mutex>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/available_memory.h"
#include "base/random.h"
#include "graph/format.h"
#include "graph/header_lines.h"
#include "graph/readers.h"

namespace edgewire::graph {

namespace {

/// The first line: "VERTICES EDGES [FMT [NCON]]". The digits of FMT say whether a vertex has a size, whether
/// it has NCON weights, and whether a neighbour has a weight after it.
struct MetisHeader {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;          ///< each is in the lines of both its ends
  std::uint64_t vertex_fields = 0;  ///< before the first neighbour
  bool edge_weights = false;
};

/// The fields of a line, one after the other.
class Fields {
 public:
  Fields(const Input& input, const Piece& piece, std::string_view line)
      : input_(input), piece_(piece), at_(line.data()), end_(at_ + line.size()) {
    skip_blanks();
  }

  bool more() const { return at_ != end_; }
  std::uint64_t whole(const char* what) {
    std::uint64_t value = 0;
    const auto [after, error] = std::from_chars(at_, end_, value);
    if (error != std::errc() || !ends_field(after)) fail(fmt::format("expected {}", what));
    move_to(after);
    return value;
  }
  Weight weight(WeightReader& reader) {
    const char* const after = std::find_if(at_, end_, is_blank);
    const Weight value = reader.read({at_, after});
    move_to(after);
    return value;
  }
  void skip(const char* what) {
    if (!more()) fail(fmt::format("the line ends where {} should be", what));
    move_to(std::find_if(at_, end_, is_blank));
  }
  [[noreturn]] void fail(std::string_view what) const { input_.fail_line(piece_, at_, what); }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  bool ends_field(const char* at) const { return at == end_ || is_blank(*at); }
  void skip_blanks() { at_ = std::find_if_not(at_, end_, is_blank); }
  void move_to(const char* after) {
    at_ = after;
    skip_blanks();
  }

  const Input& input_;
  const Piece& piece_;
  const char* at_;
  const char* end_;
};

MetisHeader read_header(Input& input, Piece& piece) {
  HeaderLines lines(input, piece);
  std::string_view line;
  do {
    if (!lines.next(line)) input.fail(input.offset(), "the file ends before its line 'VERTICES EDGES'");
  } while (line.starts_with('%'));
  Fields fields(input, piece, line);
  MetisHeader header;
  header.vertices = fields.whole("METIS's first line, VERTICES EDGES [FMT [NCON]]");
  header.edges = fields.whole("the number of edges");
  std::uint64_t format = 0;
  if (fields.more()) format = fields.whole("FMT, such as 1, 11 or 011");
  std::array<std::uint64_t, 3> digits = {format / 100, format / 10 % 10, format % 10};
  if (std::any_of(digits.begin(), digits.end(), [](std::uint64_t digit) { return digit > 1; })) {
    input.fail_line(piece, line.data(), fmt::format("FMT {} has other digits than 0 and 1", format));
  }
  std::uint64_t weights = digits[1];
  if (fields.more()) {
    weights = fields.whole("NCON, the number of weights of a vertex");
    if (weights > 0 && digits[1] == 0) {
      input.fail_line(piece, line.data(), "NCON is given, but FMT says that vertices have no weights");
    }
  }
  if (fields.more()) fields.fail("expected nothing after VERTICES EDGES FMT NCON");
  header.vertex_fields = digits[0] + weights;
  header.edge_weights = digits[2] == 1;
  if (header.vertices > kMaxVertices || header.edges > kMaxEdges / 2) {
    input.fail_line(piece, line.data(),
                    fmt::format("more vertices or edges than are supported{}",
                                header.vertices > kMaxVertices ? kMoreVertices : ""));
  }
  // A vertex takes a line end, a neighbour "1 ".
  if (!input.streamed() && std::max(header.vertices, header.edges * 4) > input.file_bytes() + 1) {
    input.fail_line(
        piece, line.data(),
        fmt::format("the file is too short for {} vertices and {} edges", header.vertices, header.edges));
  }
  lines.finish();
  return header;
}

std::uint64_t comment_lines(std::string_view text) {
  std::uint64_t count = text.starts_with('%') ? 1 : 0;
  for (std::size_t at = text.find("\n%"); at != text.npos; at = text.find("\n%", at + 2)) ++count;
  return count;
}

/// Reads the lines of the vertices.
class MetisReader {
 public:
  MetisReader(Conversion& conversion, const MetisHeader& header)
      : input_(conversion.input),
        rounded_(conversion.rounded),
        header_(header),
        weighted_(conversion.options.weighted),
        builder_(header.vertices, header.edges * 2, conversion.options) {}

  /// Numbers the vertices of a piece: pieces are taken in the order of the file.
  void number(Piece& piece) {
    piece.record = vertices_;
    const auto ends = static_cast<std::uint64_t>(std::count(piece.text.begin(), piece.text.end(), '\n'));
    const bool open = !piece.text.empty() && piece.text.back() != '\n';  // a last line without its end
    vertices_ += ends + (open ? 1 : 0) - comment_lines(piece.text);
    ends_open_ = open;
  }
  bool next(Piece& piece) {
    const std::lock_guard lock(mutex_);
    if (!input_.next_lines(piece)) return false;
    number(piece);
    return true;
  }

  void take(int worker, const Piece& piece) {
    std::uint64_t neighbours = 0;
    std::uint64_t difference = 0;
    std::uint64_t vertex = piece.record;
    WeightReader weights(input_, piece, &rounded_);
    for (std::size_t at = 0; at < piece.text.size();) {
      const std::size_t end = std::min(piece.text.find('\n', at), piece.text.size());
      const std::string_view line = piece.text.substr(at, end - at);
      at = end + 1;
      if (line.starts_with('%')) continue;
      Fields fields(input_, piece, line);
      if (vertex >= header_.vertices) {
        if (fields.more())
          fields.fail(fmt::format("a line more than the {} vertices have", header_.vertices));
        ++vertex;
        continue;
      }
      for (std::uint64_t i = 0; i < header_.vertex_fields; ++i) fields.skip("a size or weight of the vertex");
      for (; fields.more(); ++neighbours) difference += take_neighbour(worker, vertex, fields, weights);
      ++vertex;
    }
    neighbours_.fetch_add(neighbours, std::memory_order_relaxed);
    asymmetry_.fetch_add(difference, std::memory_order_relaxed);
  }

  BuildSummary write(Conversion& conversion) {
    // The line of a last vertex without neighbours may lack its end, and then is nothing.
    if (vertices_ + (ends_open_ ? 0 : 1) < header_.vertices) {
      input_.fail(input_.offset(),
                  fmt::format("the file has lines for {} vertices but its first line says {}", vertices_,
                              header_.vertices));
    }
    const std::uint64_t neighbours = neighbours_.load(std::memory_order_relaxed);
    if (neighbours != header_.edges * 2) {
      input_.fail(
          input_.offset(),
          fmt::format("the file names {} neighbours but its first line says {} edges, each there twice",
                      neighbours, header_.edges));
    }
    if (asymmetry_.load(std::memory_order_relaxed) != 0) {
      input_.fail(
          input_.offset(),
          "some edge is only in the line of one of its ends, or with two weights; METIS has each edge in "
          "the lines of both");
    }
    std::vector<std::uint64_t> original_ids(header_.vertices);
    std::iota(original_ids.begin(), original_ids.end(), std::uint64_t{1});
    return builder_.write(*conversion.output, original_ids, kSymmetric, conversion.progress);
  }

 private:
  /// Returns what is 0 in sum over both directions of an edge.
  std::uint64_t take_neighbour(int worker, std::uint64_t vertex, Fields& fields, WeightReader& weights) {
    Fields before = fields;
    const std::uint64_t neighbour = fields.whole("a neighbour (a whole number)");
    if (neighbour < 1 || neighbour > header_.vertices) {
      before.fail(fmt::format("neighbour {} is not within 1 to {}", neighbour, header_.vertices));
    }
    if (neighbour == vertex + 1) before.fail("a vertex is its own neighbour; METIS has no self loops");
    if (header_.edge_weights && !fields.more()) fields.fail("the weight of the last edge is missing");
    Weight weight;
    if (weighted_) {
      weight = fields.weight(weights);
    } else if (header_.edge_weights) {
      fields.skip("the weight of an edge");
    }
    const auto source = static_cast<PlainId>(vertex);
    const auto target = static_cast<PlainId>(neighbour - 1);
    builder_.add(worker, source, target, weight);
    return edge_hash(source, target, weight) - edge_hash(target, source, weight);
  }

  Input& input_;
  RoundedWeights& rounded_;
  const MetisHeader& header_;
  bool weighted_;
  Builder builder_;
  std::mutex mutex_;  // orders the pieces, with their numbers
  std::uint64_t vertices_ = 0;
  bool ends_open_ = false;
  // Read after the workers have ended.
  std::atomic<std::uint64_t> neighbours_{0};
  std::atomic<std::uint64_t> asymmetry_{0};
};

}  // namespace

BuildSummary read_metis(Conversion conversion) {
  Piece first;
  const MetisHeader header = read_header(conversion.input, first);
  BuildOptions& options = conversion.options;
  options.weighted = options.weighted && header.edge_weights;
  options.undirected = false;  // both ways are there already
  require_memory(conversion.input.path(), header.vertices * 16);
  MetisReader reader(conversion, header);
  reader.number(first);
  reader.take(0, first);
  conversion.input.each_piece(
      options.workers, conversion.progress, [&](Piece& piece) { return reader.next(piece); },
      [&](int worker, const Piece& piece) { reader.take(worker, piece); });
  return reader.write(conversion);
}

}  // namespace edgewire::graph
