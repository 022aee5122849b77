#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "graph/edge_lines.h"
#include "graph/edge_list.h"
#include "graph/format.h"
#include "graph/readers.h"

namespace edgewire::graph {

namespace {

constexpr std::string_view kMetisHint = " (METIS graphs are read with --format metis)";

BuildSummary read_lines(Conversion& conversion, const LineShape& shape, const Piece& first,
                        EdgeList::Numbering numbering) {
  BuildOptions& options = conversion.options;
  options.weighted = options.weighted && shape.weighted;
  EdgeList list(options.workers);
  each_edge_piece(conversion.input, options.workers, shape, first, conversion.progress,
                  [&](int worker, const ParsedEdges& edges) {
                    list.add(worker, edges.ids, options.weighted ? edges.weights : std::vector<float>());
                  });
  if (conversion.vertices != nullptr) {
    LineShape lone;
    lone.vertex = true;
    each_edge_piece(
        *conversion.vertices, options.workers, lone, {}, conversion.progress,
        [&](int worker, const ParsedEdges& vertices) { list.add_vertices(worker, vertices.ids); });
  }
  return list.build(conversion.output, numbering, options, conversion.progress);
}

}  // namespace

BuildSummary read_snap(Conversion conversion) {
  Piece first;
  FirstEdge edge;
  while (edge.fields == 0 && conversion.input.next_lines(first)) edge = first_edge(first);
  if (edge.fields == 0) first.text = {};
  LineShape shape;
  shape.named = true;
  shape.weighted = conversion.options.weighted && edge.weighted;
  shape.fields = std::max(edge.fields, 2);
  if (conversion.options.weighted && edge.fields > 3) {
    conversion.input.fail_line(
        first, edge.at,
        fmt::format("{} fields; an edge list has SOURCE TARGET [WEIGHT]. --columns says "
                    "which to read, such as --columns 1,2",
                    edge.fields));
  }
  shape.hint = kMetisHint;
  BuildSummary summary = read_lines(conversion, shape, first, EdgeList::Numbering::dense);
  summary.third_is_weight = shape.weighted;
  return summary;
}

BuildSummary read_gap_text(Conversion conversion, bool weighted) {
  LineShape shape;
  shape.max_id = kMaxVertices - 1;
  shape.weighted = weighted && conversion.options.weighted;
  shape.fields = weighted ? 3 : 2;
  shape.hint = kMetisHint;
  return read_lines(conversion, shape, {}, EdgeList::Numbering::given);
}

BuildSummary read_u32_pairs(Conversion conversion) {
  Input& input = conversion.input;
  BuildOptions& options = conversion.options;
  options.weighted = false;
  EdgeList list(options.workers);
  std::vector<std::vector<std::uint32_t>> buffers(static_cast<std::size_t>(options.workers));
  input.each_piece(
      options.workers, conversion.progress,
      [&](Piece& piece) { return input.next_records(piece, 8, Input::kToEnd); },
      [&](int worker, const Piece& piece) {
        std::vector<std::uint32_t>& ids = buffers[static_cast<std::size_t>(worker)];
        ids.resize(piece.text.size() / 4);
        std::memcpy(ids.data(), piece.text.data(), piece.text.size());
        const auto wrong =
            std::find_if(ids.begin(), ids.end(), [](std::uint32_t id) { return id >= kMaxVertices; });
        if (wrong != ids.end()) {
          input.fail(
              piece.offset + static_cast<std::uint64_t>(wrong - ids.begin()) * 4,
              fmt::format("vertex id {} is larger than the {} that is supported", *wrong, kMaxVertices - 1));
        }
        list.add(worker, ids);
      });
  return list.build(conversion.output, EdgeList::Numbering::given, options, conversion.progress);
}

}  // namespace edgewire::graph
