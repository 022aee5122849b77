#include <algorithm>

#include "graph/edge_lines.h"

namespace edgewire::graph {

namespace {

/// After a string in single or double quotes that begins at `at`; null when it does not end.
const char* after_string(const char* at, const char* end) {
  const char quote = *at;
  for (++at; at < end && *at != quote; ++at) {
    if (*at == '\\') ++at;
  }
  return at < end ? at + 1 : nullptr;
}

/// After a value: at the comma or the brace that ends it. Null when there is none.
const char* after_value(const char* at, const char* end) {
  for (int depth = 0; at != end; ++at) {
    if (depth == 0 && (*at == ',' || *at == '}')) return at;
    if (*at == '\'' || *at == '"') {
      at = after_string(at, end);
      if (at == nullptr) return nullptr;
      --at;
    } else if (*at == '{' || *at == '[' || *at == '(') {
      ++depth;
    } else if (*at == '}' || *at == ']' || *at == ')') {
      --depth;
    }
  }
  return nullptr;
}

const char* after_spaces(const char* at, const char* end) {
  return std::find_if(at, end, [](char c) { return c != ' '; });
}

}  // namespace

const char* read_attributes(const char* at, const char* end, std::string_view& weight) {
  at = after_spaces(at + 1, end);
  while (at != end && *at != '}') {
    if (*at != '\'' && *at != '"') return nullptr;
    const char* const key = at;
    at = after_string(at, end);
    if (at == nullptr) return nullptr;
    const bool is_weight = std::string_view(key + 1, at - 1) == "weight";
    at = after_spaces(at, end);
    if (at == end || *at != ':') return nullptr;
    at = after_spaces(at + 1, end);
    const char* const value = at;
    at = after_value(at, end);
    if (at == nullptr) return nullptr;
    if (is_weight) weight = {value, at};
    if (*at == ',') at = after_spaces(at + 1, end);
  }
  return at == end ? nullptr : at + 1;
}

}  // namespace edgewire::graph
