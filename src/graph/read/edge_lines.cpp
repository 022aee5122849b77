#include "graph/read/edge_lines.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstring>

#include "graph/file/format.h"
#include "graph/read/text_lines.h"
#include "options/files.h"

namespace edgewire::graph {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == ',' || c == '\r'; }

const char* skip_blanks(const char* at, const char* end) {
  while (at != end && is_blank(*at)) ++at;
  return at;
}

const char* line_end(const char* at, const char* end) {
  const void* found = std::memchr(at, '\n', static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

const char* skip_line(const char* at, const char* end) {
  at = line_end(at, end);
  return at == end ? end : at + 1;
}

/// Returns the place after the field that begins at `at`; attributes in braces are one field.
const char* skip_field(const char* at, const char* end) {
  if (*at == '{') {
    std::string_view weight;
    const char* const after = read_attributes(at, line_end(at, end), weight);
    if (after != nullptr) return after;
  }
  while (at != end && !is_blank(*at) && *at != '\n') ++at;
  return at;
}

/// Returns whether a field is plainly a name: it has a letter, and is no number such as 1e5, 0x1F or nan.
bool is_name(std::string_view field) {
  const bool letters =
      std::ranges::any_of(field, [](unsigned char c) { return std::isalpha(c) != 0 || c >= 0x80; });
  return letters && !field.starts_with("0x") && !is_number(field);
}

/// Returns how many of 8 characters are digits, up to the first that is none, and their value: all 8 at once
/// (Lemire: "Number parsing at a gigabyte per second", 2021).
int leading_digits(const char* at, std::uint64_t& value) {
  std::uint64_t digits = 0;
  std::memcpy(&digits, at, sizeof digits);
  digits ^= 0x3030303030303030U;
  const std::uint64_t others =
      (((digits & 0x7F7F7F7F7F7F7F7FU) + 0x7676767676767676U) | digits) & 0x8080808080808080U;
  const int count = others == 0 ? 8 : std::countr_zero(others) / 8;
  if (count == 0) return 0;
  digits <<= 64 - 8 * count;  // shifts zeros before the digits
  digits = digits * 10 + (digits >> 8);
  value =
      ((digits & 0xFF000000FFU) * 0xF424000000064U + (digits >> 16 & 0xFF000000FFU) * 0x271000000001U) >> 32;
  return count;
}

class EdgeParser {
 public:
  EdgeParser(const Input& input, const Piece& piece, const LineShape& shape, ParsedEdges& edges)
      : input_(input),
        piece_(piece),
        shape_(shape),
        edges_(edges),
        weights_(input, piece, shape.rounded),
        at_(piece.text.data()),
        end_(at_ + piece.text.size()) {
    const std::size_t most = piece.text.size() / (shape.vertex ? 2 : 4) + 1;  // "1\n", "1 2\n"
    if (edges.narrow.size() < most * 2) edges.narrow.resize(most * 2);
    edges.is_wide = false;
    edges.ids = 0;
    edges.weights.clear();
  }

  void parse() {
    // Only lines of two ids are often plain.
    const bool may_be_plain = !shape_.weighted && !shape_.vertex && !shape_.zero_loops && shape_.mark == 0 &&
                              (shape_.fields == 0 || shape_.fields == 2);
    if (!may_be_plain) {
      while (next_line()) {
      }
      return;
    }
    constexpr int kLines = 32;  // lines to parse at a time where they are not plain
    do {
      parse_plain();
      for (int line = 0; line < kLines; ++line)
        if (!next_line()) break;
    } while (at_ != end_);
  }

 private:
  void parse_plain() {
    if (at_ - piece_.text.data() < static_cast<std::ptrdiff_t>(kBeforePlainLines)) return;
    const std::string_view left = piece_.text.substr(static_cast<std::size_t>(at_ - piece_.text.data()));
    const auto parse = [&](auto& ids) {
      const auto read = parse_plain_lines(left, shape_, ids.data() + edges_.ids);
      edges_.ids = static_cast<std::size_t>(read.ids_end - ids.data());
      at_ = read.next;
    };
    edges_.is_wide ? parse(edges_.wide) : parse(edges_.narrow);
  }

  /// Goes to the next line. Returns false at the end.
  bool next_line() {
    refuse_cr();
    if (!next_edge()) return false;
    const std::uint64_t source = id();
    const std::uint64_t target = shape_.vertex ? source : id();
    if (shape_.zero_loops && source == target && !zeros_follow())
      fail(begin_, "an entry on the diagonal, where a skew-symmetric matrix has none but zeros");
    if (!edges_.is_wide && (source | target) >> 32 != 0) widen();
    const auto put = [&]<class Id>(std::vector<Id>& ids) {
      ids[edges_.ids++] = static_cast<Id>(source);
      ids[edges_.ids++] = static_cast<Id>(target);
    };
    edges_.is_wide ? put(edges_.wide) : put(edges_.narrow);
    if (shape_.weighted) edges_.weights.add(weight());
    finish_line();
    return true;
  }

  void widen() {
    if (edges_.wide.size() < edges_.narrow.size()) edges_.wide.resize(edges_.narrow.size());
    std::copy_n(edges_.narrow.begin(), edges_.ids, edges_.wide.begin());
    edges_.is_wide = true;
  }

  /// Looks for a CR within a line in the text ahead, some KB at a time. Plain lines have none.
  void refuse_cr() {
    constexpr std::size_t kBytes = 16 << 10;
    const auto at = static_cast<std::size_t>(at_ - piece_.text.data());
    if (at < cr_free_) return;
    cr_free_ = std::min(at + kBytes, piece_.text.size());
    while (cr_free_ < piece_.text.size() && piece_.text[cr_free_ - 1] == '\r') ++cr_free_;
    if (const std::size_t cr = cr_within_line(piece_.text.substr(at, cr_free_ - at)); cr != piece_.text.npos)
      input_.fail_line(piece_, piece_.text.data() + at + cr, kCrAlone);
  }

  /// Goes to the next line that holds an edge, and returns false at the end.
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
    if (end_ - at_ >= 8) at_ += leading_digits(at_, value);
    if (at_ - begin == 8 || end_ - begin < 8) more_digits(begin, value);
    if (at_ == begin || !at_field_end()) refuse_id(begin);
    if (value < shape_.min_id || value > shape_.max_id)
      fail(begin, fmt::format("vertex id {} is not within {} to {}{}{}", value, shape_.min_id, shape_.max_id,
                              shape_.max_id == kMaxVertices - 1 ? kMoreVertices : "",
                              value == 0 ? "; this format counts vertices from 1" : ""));
    return value - shape_.origin;
  }

  Weight weight() {
    at_ = skip_blanks(at_, end_);
    if (at_ == end_ || *at_ == '\n') fail(at_, "the weight is missing");
    std::uint64_t few_digits = 0;  // the value of the usual weight
    const int digits = end_ - at_ > 8 ? leading_digits(at_, few_digits) : 0;
    if (digits > 0 && (is_blank(at_[digits]) || at_[digits] == '\n')) {
      at_ += digits;
      return few_digits;
    }
    const char* const begin = at_;
    if (*at_ != '{') {
      while (!at_field_end()) ++at_;
      return weights_.read({begin, at_});
    }
    std::string_view text;
    at_ = read_attributes(at_, line_end(at_, end_), text);
    if (at_ == nullptr) fail(begin, "expected attributes such as {'weight': 4}");
    if (text.empty()) fail(begin, "the attributes have no 'weight', as those of the first edge have");
    return weights_.read(text.substr(0, text.find_last_not_of(' ') + 1));
  }

  void finish_line() {
    at_ = skip_blanks(at_, end_);
    const int read = (shape_.mark == 0 ? 0 : 1) + (shape_.vertex ? 1 : 2) + (shape_.weighted ? 1 : 0);
    if ((at_ != end_ && *at_ != '\n') || shape_.fields > read) {
      check_fields();
      at_ = skip_line(at_, end_);
    } else if (at_ != end_) {
      ++at_;
    }
  }

  /// Returns whether the line has more fields, which are all 0.
  bool zeros_follow() const {
    const char* at = skip_blanks(at_, end_);
    bool zeros = at != end_ && *at != '\n';
    while (zeros && at != end_ && *at != '\n') {
      double value = 0;
      zeros = std::from_chars(*at == '+' ? at + 1 : at, end_, value).ec == std::errc() && value == 0;
      at = skip_blanks(skip_field(at, end_), end_);
    }
    return zeros;
  }

  /// Goes on with the digits at `at_`, of an id that begins at `begin`.
  void more_digits(const char* begin, std::uint64_t& value) {
    // 19 digits cannot overflow.
    const char* const safe_end = end_ - begin > 19 ? begin + 19 : end_;
    while (at_ != safe_end && is_digit(*at_)) value = value * 10 + static_cast<std::uint64_t>(*at_++ - '0');
    while (at_ != end_ && is_digit(*at_)) {
      const auto digit = static_cast<std::uint64_t>(*at_ - '0');
      if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value))
        fail(begin, "the vertex id does not fit 64 bits");
      ++at_;
    }
  }

  /// Returns whether the line at `at_` is a comment. Goes over the mark of one that is not.
  bool skipped() {
    if (shape_.mark == 0) return is_comment(at_, end_);
    const bool alone = at_ + 1 == end_ || is_blank(at_[1]) || at_[1] == '\n';
    if (*at_ == 'c' && alone) return true;
    if (*at_ != shape_.mark || !alone)
      fail(at_, fmt::format("expected '{} SOURCE TARGET WEIGHT', or c for a comment", shape_.mark));
    ++at_;
    return false;
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
    if (begin == end_ || *begin == '\n')
      fail(begin, fmt::format("the line ends where a vertex id should be{}", shape_.hint));
    if (*begin == '-') fail(begin, "a vertex id is negative");
    const bool named = shape_.named && is_name({begin, skip_field(begin, end_)});
    fail(begin, named ? fmt::format("expected a vertex id (a whole number); {} reads names", opt::labels)
                      : "expected a vertex id (a whole number)");
  }

  const Input& input_;
  const Piece& piece_;
  const LineShape& shape_;
  ParsedEdges& edges_;
  WeightReader weights_;
  const char* at_;
  const char* end_;
  const char* begin_ = nullptr;  // start of the line's first field
  std::size_t cr_free_ = 0;      // place up to which no line that is not plain has a CR within
};

}  // namespace

std::size_t cr_within_line(std::string_view text) {
  for (std::size_t at = text.find('\r'); at != text.npos; at = text.find('\r', at)) {
    const std::size_t next = text.find_first_not_of('\r', at);
    if (next == text.npos) break;
    if (text[next] != '\n') return at;
    at = next;
  }
  return text.npos;
}

bool is_comment(const char* at, const char* end) {
  return *at == '#' || *at == '%' || (*at == '/' && at + 1 != end && at[1] == '/');
}

void parse_edge_lines(const Input& input, const Piece& piece, const LineShape& shape, ParsedEdges& edges) {
  EdgeParser(input, piece, shape, edges).parse();
}

void each_edge_piece(const Conversion& conversion, std::span<Input* const> inputs, const LineShape& shape,
                     const Piece& first,
                     const std::function<void(int worker, const ParsedEdges& edges)>& take) {
  std::vector<ParsedEdges> parsed(static_cast<std::size_t>(conversion.options.workers));
  each_piece(conversion, inputs, first, 0, [&](const Input& input, int worker, const Piece& piece) {
    ParsedEdges& edges = parsed[static_cast<std::size_t>(worker)];
    parse_edge_lines(input, piece, shape, edges);
    take(worker, edges);
  });
}

std::vector<std::uint64_t> sample_sources(std::span<Input* const> inputs, LineShape shape) {
  shape.rounded = nullptr;  // the reader of these lines reports it
  std::vector<std::uint64_t> sources;
  ParsedEdges edges;
  for (Input* const input : inputs)
    input->sample(0, [&](const Piece& piece) {
      parse_edge_lines(*input, piece, shape, edges);
      const std::vector<std::uint64_t> ids = edges.all_ids();
      for (std::size_t i = 0; i < ids.size(); i += 2) sources.push_back(ids[i]);
    });
  return sources;
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
        edge.named = !weight.empty();
      }
      field = skip_blanks(skip_field(field, end), end);
    }
    return edge;
  }
  return {};
}

}  // namespace edgewire::graph
