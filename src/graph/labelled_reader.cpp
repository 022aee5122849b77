#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <utility>
#include <vector>

#include "error.h"
#include "graph/labelled_lines.h"
#include "graph/readers.h"
#include "graph/vertex_names.h"

namespace edgewire::graph {

namespace {

/// What one worker has read.
struct Part {
  NameSet names;
  std::vector<LabelledEdges> edges;
  std::vector<std::uint32_t> vertices;  ///< of each name
};

bool is_number(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool is_heading(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::string_view, 16> kHeadings = {
      "source",      "target",   "src",       "dst",       "from",    "to",    "fromnodeid", "tonodeid",
      "destination", "sourceid", "source_id", "target_id", "from_id", "to_id", "node1",      "node2"};
  return std::find(kHeadings.begin(), kHeadings.end(), name) != kHeadings.end();
}

/// A line of headings must not become an edge.
void refuse_heading(const Input& input, const std::vector<std::string>& first,
                    const std::vector<std::string_view>& names) {
  const bool only_words = !is_number(first[0]) && !is_number(first[1]) && names.size() > 2 &&
                          std::all_of(names.begin(), names.end(), [&](std::string_view name) {
                            return is_number(name) || name == first[0] || name == first[1];
                          });
  if (!only_words && !std::all_of(first.begin(), first.end(), is_heading)) return;
  throw Error(fmt::format(
      "{}: the first line ({} {}) looks like names of columns; if it is, put a # and a blank before "
      "it; if it is an edge, move it down by a line",
      input.path(), first[0], first[1]));
}

/// The different names of all parts, in order; tells the parts the places of theirs.
std::vector<std::string_view> number_vertices(std::vector<Part>& parts) {
  std::vector<std::string_view> names;
  for (const Part& part : parts)
    names.insert(names.end(), part.names.names().begin(), part.names.names().end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  parallel_for(static_cast<int>(parts.size()), parts.size(), [&](int, std::uint64_t index) {
    Part& part = parts[index];
    part.vertices.reserve(part.names.names().size());
    for (const std::string& name : part.names.names()) {
      part.vertices.push_back(
          static_cast<std::uint32_t>(std::lower_bound(names.begin(), names.end(), name) - names.begin()));
    }
  });
  return names;
}

BuildSummary build(Conversion& conversion, std::vector<Part>& parts,
                   std::span<const std::string_view> names) {
  std::vector<std::pair<const Part*, LabelledEdges*>> chunks;
  std::uint64_t edges = 0;
  for (Part& part : parts) {
    for (LabelledEdges& chunk : part.edges) {
      chunks.emplace_back(&part, &chunk);
      edges += chunk.ids.size() / 2;
    }
  }
  Builder builder(names.size(), edges, conversion.options);
  parallel_for(
      conversion.options.workers, chunks.size(),
      [&](int worker, std::uint64_t index) {
        const std::vector<std::uint32_t>& vertex = chunks[index].first->vertices;
        const LabelledEdges chunk =
            std::exchange(*chunks[index].second, {});  // freed when its edges are copied
        for (std::size_t i = 0; i < chunk.ids.size() / 2; ++i) {
          builder.add(worker, vertex[chunk.ids[2 * i]], vertex[chunk.ids[2 * i + 1]],
                      conversion.options.weighted ? chunk.weights[i] : 0.0F);
        }
      },
      "numbering vertices", conversion.progress);
  return write_labelled(builder, conversion.output, names, 0, conversion.progress);
}

}  // namespace

BuildSummary read_labelled(Conversion conversion) {
  Input& input = conversion.input;
  BuildOptions& options = conversion.options;
  std::vector<Part> parts(static_cast<std::size_t>(options.workers));
  LabelledShape shape;
  const auto read = [&](Input& from, const Piece& piece, int worker, bool vertices) {
    Part& part = parts[static_cast<std::size_t>(worker)];
    parse_labelled_lines(from, piece, shape, vertices, part.names, part.edges.emplace_back());
  };
  Piece first;
  while (shape.fields == 0 && input.next_lines(first)) shape = shape_of(input, first);
  options.weighted = shape.weighted = options.weighted && shape.fields >= 3;
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
  BuildSummary summary = build(conversion, parts, names);
  summary.third_is_weight = shape.weighted;
  return summary;
}

}  // namespace edgewire::graph
