#include "graph/edge_lines.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <system_error>

namespace edgewire::graph {

namespace {

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == ',' || c == '\r'; }

const char* skip_blanks(const char* at, const char* end) {
  while (at != end && is_blank(*at)) ++at;
  return at;
}

const char* skip_line(const char* at, const char* end) {
  const void* line_end = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
  return line_end == nullptr ? end : static_cast<const char*>(line_end) + 1;
}

const char* line_end(const char* at, const char* end) {
  const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

/// After the field that begins at `at`; attributes in braces are one.
const char* skip_field(const char* at, const char* end) {
  if (*at == '{') {
    std::string_view weight;
    const char* const after = read_attributes(at, line_end(at, end), weight);
    if (after != nullptr) return after;
  }
  while (at != end && !is_blank(*at) && *at != '\n') ++at;
  return at;
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
      begin_ = at_;
      if (*at_ != '\n' && !skipped()) return true;
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
    if (at_ == end_ || *at_ == '\n') fail(at_, "the weight is missing");
    if (*at_ != '{') return number(at_, end_);
    std::string_view text;
    const char* const begin = at_;
    at_ = read_attributes(at_, line_end(at_, end_), text);
    if (at_ == nullptr) fail(begin, "expected attributes such as {'weight': 4}");
    if (text.empty()) fail(begin, "the attributes have no 'weight', as those of the first edge have");
    const char* const after = at_;
    const float value = number(text.data(), text.data() + text.size());
    at_ = after;
    return value;
  }

  [[noreturn]] void refuse_loop() const {
    fail(begin_, "an entry on the diagonal, where a skew-symmetric matrix has none");
  }

  void finish_line() {
    any_edge_ = true;
    at_ = skip_blanks(at_, end_);
    const int read = (shape_.mark == 0 ? 0 : 1) + (shape_.vertex ? 1 : 2) + (shape_.weighted ? 1 : 0);
    if ((at_ != end_ && *at_ != '\n') || shape_.fields > read) check_fields();
    at_ = skip_line(at_, end_);
  }

 private:
  /// Whether the line at `at_` is a comment. Goes over the mark of one that is not.
  bool skipped() {
    if (shape_.mark == 0) return is_comment(at_, end_);
    const bool alone = at_ + 1 == end_ || is_blank(at_[1]) || at_[1] == '\n';
    if (*at_ == 'c' && alone) return true;
    if (*at_ != shape_.mark || !alone) {
      fail(at_, fmt::format("expected '{} SOURCE TARGET WEIGHT', or c for a comment", shape_.mark));
    }
    ++at_;
    return false;
  }

  /// Reads a finite number and leaves at_ after it.
  float number(const char* begin, const char* end) {
    double value = 0;
    const auto [after, error] = std::from_chars(*begin == '+' ? begin + 1 : begin, end, value);
    at_ = after;
    const bool whole = at_ == end || at_field_end();
    if (error == std::errc::invalid_argument || !whole) {
      fail(begin, "expected a weight (a number); --no-weights reads no weights");
    }
    if (error != std::errc() || !std::isfinite(static_cast<float>(value))) {
      fail(begin, "the weight is not a finite 32-bit number; --no-weights reads no weights");
    }
    return static_cast<float>(value);
  }

  void check_fields() const {
    int fields = 0;
    const char* field = begin_;
    while (field != end_ && *field != '\n') {
      ++fields;
      field = skip_blanks(skip_field(field, end_), end_);
    }
    if (shape_.fields == 0 || fields == shape_.fields) return;
    fail(begin_,
         fmt::format("{} fields where each edge of this file has {}{}", fields, shape_.fields, shape_.hint));
  }

  bool at_field_end() const { return at_ == end_ || is_blank(*at_) || *at_ == '\n'; }
  [[noreturn]] void fail(const char* at, std::string_view what) const { input_.fail_line(piece_, at, what); }
  [[noreturn]] void refuse_id(const char* begin) const {
    if (begin == end_ || *begin == '\n') {
      fail(begin, fmt::format("the line ends where a vertex id should be{}", shape_.hint));
    }
    // A later one is a fault in a list of numbers.
    const bool is_name = shape_.named && piece_.line == 1 && !any_edge_ && !is_digit(*begin) && *begin != '.';
    if (*begin == '-') fail(begin, "a vertex id is negative");
    fail(begin, is_name ? "ids are not numbers; use --labels" : "expected a vertex id (a whole number)");
  }

  const Input& input_;
  const Piece& piece_;
  const LineShape& shape_;
  const char* at_;
  const char* end_;
  const char* begin_ = nullptr;  // of the line's first field
  bool any_edge_ = false;
};

}  // namespace

bool is_comment(const char* at, const char* end) {
  return *at == '#' || *at == '%' || (*at == '/' && at + 1 != end && at[1] == '/');
}

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
    if (shape.no_loops && ids[0] == ids[1]) reader.refuse_loop();
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

FirstEdge first_edge(const Piece& piece) {
  const char* at = piece.text.data();
  const char* const end = at + piece.text.size();
  for (; at != end; at = skip_line(at, end)) {
    const char* field = skip_blanks(at, end);
    if (field == end) break;
    if (*field == '\n' || is_comment(field, end)) continue;
    FirstEdge edge;
    edge.at = field;
    while (field != end && *field != '\n') {
      ++edge.fields;
      if (edge.fields == 3) {
        std::string_view weight;
        edge.weighted = *field != '{' || read_attributes(field, line_end(field, end), weight) == nullptr ||
                        !weight.empty();
      }
      field = skip_blanks(skip_field(field, end), end);
    }
    return edge;
  }
  return {};
}

}  // namespace edgewire::graph
