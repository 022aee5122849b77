#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <mutex>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "base/available_memory.h"
#include "base/random.h"
#include "graph/format.h"
#include "graph/readers.h"
#include "graph/text_lines.h"

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

void skip(Fields& fields, std::string_view what) {
  if (!fields.more()) fields.fail(fmt::format("the line ends where {} should be", what));
  fields.word();
}

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
  refuse_more(input, piece, line, header.vertices, header.edges);
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
    for (std::string_view rest = piece.text; !rest.empty();) {
      const std::string_view line = cut_line(rest);
      if (line.starts_with('%')) continue;
      Fields fields(input_, piece, line);
      if (vertex >= header_.vertices) {
        if (fields.more())
          fields.fail(fmt::format("a line more than the {} vertices have", header_.vertices));
        ++vertex;
        continue;
      }
      for (std::uint64_t i = 0; i < header_.vertex_fields; ++i)
        skip(fields, "a size or weight of the vertex");
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
      weight = weights.read(fields.word());
    } else if (header_.edge_weights) {
      skip(fields, "the weight of an edge");
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

using Numbers = std::vector<double>;

/// Cuts one line off `text` and reads its numbers, and returns false where something else stands there.
bool next_numbers(std::string_view& text, Numbers& numbers) {
  const std::string_view line = cut_line(text);
  const char* at = line.data();
  const char* const line_end = at + line.size();
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

/// The header and the lines of vertices of what may be a METIS graph, as far as they are there.
class MetisGuess {
 public:
  /// Takes the first line. Returns false where METIS has no such first line.
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

  /// Takes the line of the next vertex, and returns false where it is none.
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

  /// Returns whether the counts are right, and each edge is in both lines, as far as these are there.
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

std::optional<MetisCounts> metis_graph_in(std::string_view text, bool whole) {
  if (!whole) text = text.substr(0, text.rfind('\n') + 1);  // the last line may go on
  MetisGuess graph;
  Numbers numbers;
  bool has_header = false;
  while (!text.empty()) {
    if (text.starts_with('%')) {
      cut_line(text);
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
