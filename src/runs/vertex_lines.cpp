#include "runs/vertex_lines.h"

#include <cmath>
#include <limits>

namespace edgewire::runs {

namespace {
constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
}  // namespace

void VertexLines::add(VertexId vertex, double value, int digits) {
  names_.append(text_, vertex);
  fmt::format_to(std::back_inserter(text_), "\t{:.{}g}\n", value, digits);
}

template <class Number>
void VertexLines::add_number(VertexId vertex, Number number, bool infinite) {
  names_.append(text_, vertex);
  if (infinite)
    text_.append(std::string_view("\tinfinity\n"));
  else
    fmt::format_to(std::back_inserter(text_), "\t{}\n", number);
}

void VertexLines::add_distance(VertexId vertex, float distance) {
  add_number(vertex, distance, std::isinf(distance));
}
void VertexLines::add_distance(VertexId vertex, double distance) {
  add_number(vertex, distance, std::isinf(distance));
}
void VertexLines::add_distance(VertexId vertex, std::uint64_t distance) {
  add_number(vertex, distance, distance == std::numeric_limits<std::uint64_t>::max());
}

void VertexLines::add_level(VertexId vertex, std::uint32_t level) {
  constexpr std::int64_t kUnreached = std::numeric_limits<std::int64_t>::max();
  names_.append(text_, vertex);
  fmt::format_to(std::back_inserter(text_), "\t{}\n", level == kNone ? kUnreached : std::int64_t{level});
}

void VertexLines::add_vertex(VertexId vertex, VertexId other) {
  names_.append(text_, vertex);
  text_.push_back('\t');
  if (other == kNoVertex)
    text_.append(std::string_view("-1"));
  else
    names_.append(text_, other);
  text_.push_back('\n');
}

}  // namespace edgewire::runs
