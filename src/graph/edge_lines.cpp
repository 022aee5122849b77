#include "graph/edge_lines.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

namespace edgewire::graph {

namespace {

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == ',' || c == '\r'; }
bool is_comment(char c) { return c == '#' || c == '%'; }

const char* skip_blanks(const char* at, const char* end) {
  while (at != end && is_blank(*at)) ++at;
  return at;
}

const char* skip_line(const char* at, const char* end) {
  const void* line_end = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
  return line_end == nullptr ? end : static_cast<const char*>(line_end) + 1;
}

/// Reads the fields of one piece, one after the other.
class Reader {
 public:
  Reader(const Input& input, const Piece& piece, const LineShape& shape)
      : input_(input), piece_(piece), shape_(shape), at_(piece.text.data()), end_(at_ + piece.text.size()) {}

  /// Goes to the next line that holds an edge; false at the end.
  bool next_edge() {
    for (;;) {
      at_ = skip_blanks(at_, end_);
      if (at_ == end_) return false;
      if (*at_ != '\n' && !is_comment(*at_)) return true;
      at_ = skip_line(at_, end_);
    }
  }

  std::uint64_t id() {
    at_ = skip_blanks(at_, end_);
    const char* const begin = at_;
    std::uint64_t value = 0;
    // 19 digits cannot overflow.
    const char* const safe_end = end_ - at_ > 19 ? at_ + 19 : end_;
    while (at_ != safe_end && is_digit(*at_)) value = value * 10 + static_cast<std::uint64_t>(*at_++ - '0');
    while (at_ != end_ && is_digit(*at_)) {
      const auto digit = static_cast<std::uint64_t>(*at_ - '0');
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value)) {
        fail(begin, "the vertex id does not fit 64 bits");
      }
      ++at_;
    }
    if (at_ == begin || !at_field_end()) refuse_id(begin);
    if (value < shape_.min_id || value > shape_.max_id) {
      fail(begin, fmt::format("vertex id {} is not within {} to {}", value, shape_.min_id, shape_.max_id));
    }
    return value;
  }

  float weight() {
    at_ = skip_blanks(at_, end_);
    const char* const begin = at_;
    if (at_ == end_ || *at_ == '\n') fail(begin, "the weight is missing");
    double value = 0;
    const auto [after, error] = std::from_chars(*at_ == '+' ? at_ + 1 : at_, end_, value);
    at_ = after;
    if (error == std::errc::invalid_argument || !at_field_end()) fail(begin, "expected a weight (a number)");
    if (error != std::errc() || !std::isfinite(static_cast<float>(value))) {
      fail(begin, "the weight is not a finite 32-bit number");
    }
    return static_cast<float>(value);
  }

  void finish_line() {
    at_ = skip_blanks(at_, end_);
    if (at_ != end_ && *at_ != '\n' && !shape_.ignore_rest) {
      fail(at_, shape_.weighted
                    ? "expected nothing after the weight; --no-weights reads the first two fields only"
                    : "expected nothing after the target, as in the lines before; --no-weights reads the "
                      "first two fields only");
    }
    at_ = skip_line(at_, end_);
  }

 private:
  bool at_field_end() const { return at_ == end_ || is_blank(*at_) || *at_ == '\n'; }
  [[noreturn]] void fail(const char* at, std::string_view what) const { input_.fail_line(piece_, at, what); }
  [[noreturn]] void refuse_id(const char* begin) const {
    if (begin == end_ || *begin == '\n') fail(begin, "the line ends where a vertex id should be");
    if (*begin == '-') fail(begin, "a vertex id is negative");
    fail(begin, "expected a vertex id (a whole number)");
  }

  const Input& input_;
  const Piece& piece_;
  const LineShape& shape_;
  const char* at_;
  const char* end_;
};

}  // namespace

void parse_edge_lines(const Input& input, const Piece& piece, const LineShape& shape, ParsedEdges& edges) {
  const std::size_t most = piece.text.size() / (shape.vertex ? 2 : 4) + 1;  // "1\n", "1 2\n"
  if (edges.ids.size() < most * 2) edges.ids.resize(most * 2);
  edges.weights.resize(shape.weighted ? most : 0);
  std::uint64_t* ids = edges.ids.data();
  float* weights = edges.weights.data();
  Reader reader(input, piece, shape);
  while (reader.next_edge()) {
    ids[0] = reader.id();
    ids[1] = shape.vertex ? ids[0] : reader.id();
    ids += 2;
    if (shape.weighted) *weights++ = reader.weight();
    reader.finish_line();
  }
  edges.ids.resize(static_cast<std::size_t>(ids - edges.ids.data()));
  edges.weights.resize(static_cast<std::size_t>(weights - edges.weights.data()));
}

void each_edge_piece(Input& input, int workers, const LineShape& shape, const Piece& first,
                     const Progress& progress,
                     const std::function<void(int worker, const ParsedEdges& edges)>& take) {
  std::vector<ParsedEdges> parsed(static_cast<std::size_t>(workers));
  const auto work = [&](int worker, const Piece& piece) {
    ParsedEdges& edges = parsed[static_cast<std::size_t>(worker)];
    parse_edge_lines(input, piece, shape, edges);
    take(worker, edges);
  };
  work(0, first);
  input.each_piece(
      workers, progress, [&](Piece& piece) { return input.next_lines(piece); }, work);
}

int fields_of_first_edge(const Piece& piece) {
  const char* at = piece.text.data();
  const char* const end = at + piece.text.size();
  for (; at != end; at = skip_line(at, end)) {
    int fields = 0;
    const char* field = skip_blanks(at, end);
    while (field != end && *field != '\n' && (fields > 0 || !is_comment(*field))) {
      ++fields;
      while (field != end && !is_blank(*field) && *field != '\n') ++field;
      field = skip_blanks(field, end);
    }
    if (fields > 0) return fields;
  }
  return 0;
}

}  // namespace edgewire::graph
