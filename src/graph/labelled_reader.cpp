#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "graph/labelled_parts.h"
#include "graph/readers.h"
#include "graph/third_column.h"

namespace edgewire::graph {

namespace {

bool is_number(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// A line of headings must not become an edge.
void refuse_heading(const Input& input, const std::vector<std::string>& first,
                    const std::vector<std::string_view>& names) {
  const bool only_words = !is_number(first[0]) && !is_number(first[1]) && names.size() > 2 &&
                          std::all_of(names.begin(), names.end(), [&](std::string_view name) {
                            return is_number(name) || name == first[0] || name == first[1];
                          });
  if (!only_words && !std::all_of(first.begin(), first.end(), is_end_name)) return;
  throw Error(fmt::format(
      "{}: the first line ({} {}) looks like names of columns; if it is, put a # and a blank before "
      "it, or say --columns; if it is an edge, move it down by a line",
      input.path(), first[0], first[1]));
}

}  // namespace

BuildSummary read_labelled(Conversion conversion) {
  Input& input = conversion.input;
  BuildOptions& options = conversion.options;
  std::vector<LabelledPart> parts(static_cast<std::size_t>(options.workers));
  LabelledShape shape;
  const auto read = [&](Input& from, const Piece& piece, int worker, bool vertices) {
    LabelledPart& part = parts[static_cast<std::size_t>(worker)];
    parse_labelled_lines(from, piece, shape, vertices, part.names, part.edges.emplace_back());
  };
  Piece first;
  while (shape.fields == 0 && input.next_lines(first)) shape = shape_of(input, first);
  options.weighted = shape.weighted = options.weighted && shape.fields >= 3;
  shape.rounded = &conversion.rounded;
  if (shape.weighted) options.column = third_column(first.text.substr(0, shape.begin));
  std::vector<std::string> first_names;
  if (shape.fields > 0) {
    read(input, first, 0, false);
    const auto& names = parts[0].names.names();
    for (const std::size_t end : {0, 1}) first_names.push_back(names[parts[0].edges[0].ids[end]]);
    input.each_piece(
        options.workers, conversion.progress, [&](Piece& piece) { return input.next_lines(piece); },
        [&](int worker, const Piece& piece) { read(input, piece, worker, false); });
  }
  if (conversion.vertices != nullptr) {
    Input& lone = *conversion.vertices;
    lone.each_piece(
        options.workers, conversion.progress, [&](Piece& piece) { return lone.next_lines(piece); },
        [&](int worker, const Piece& piece) { read(lone, piece, worker, true); });
  }
  const std::vector<std::string_view> names = number_vertices(parts);
  if (!first_names.empty()) refuse_heading(input, first_names, names);
  BuildSummary summary = build_labelled(conversion, parts, names);
  summary.third_is_weight = options.column != WeightColumn::named;
  return summary;
}

}  // namespace edgewire::graph
