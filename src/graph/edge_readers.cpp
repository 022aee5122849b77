#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "graph/edge_lines.h"
#include "graph/format.h"
#include "graph/readers.h"
#include "graph/third_column.h"

namespace edgewire::graph {

namespace {

constexpr std::string_view kMetisHint = " (METIS graphs are read with --format metis)";

BuildSummary read_lines(Conversion& conversion, LineShape shape, const Piece& first,
                        GraphShape::Numbering numbering) {
  shape.rounded = &conversion.rounded;
  BuildOptions& options = conversion.options;
  options.weighted = options.weighted && shape.weighted;
  EdgeSink& sink = conversion.edges;
  GraphShape graph;
  graph.numbering = numbering;
  graph.options = options;
  graph.name = conversion.input.path();
  sink.start(graph,
             sink.wants_sample() ? sample_sources(conversion.inputs, shape) : std::vector<std::uint64_t>());
  each_edge_piece(conversion.inputs, options.workers, shape, first, conversion.progress, sink.rank(),
                  sink.size(), [&](int worker, const ParsedEdges& edges) { edges.add_to(sink, worker); });
  if (conversion.vertices != nullptr) {
    LineShape lone;
    lone.vertex = true;
    each_edge_piece(std::span(&conversion.vertices, 1), options.workers, lone, {}, conversion.progress,
                    sink.rank(), sink.size(), [&](int worker, const ParsedEdges& vertices) {
                      sink.add_vertices(worker, vertices.all_ids());
                    });
  }
  return sink.write(0, conversion.progress);
}

std::uint32_t u32_at(std::string_view text, std::size_t place) {
  std::uint32_t number = 0;
  std::memcpy(&number, text.data() + place * sizeof number, sizeof number);
  return number;
}

std::vector<std::uint64_t> sample_pairs(std::span<Input* const> inputs) {
  constexpr std::size_t kPair = 8;
  std::vector<std::uint64_t> sources;
  for (Input* const input : inputs)
    input->sample(kPair, [&](const Piece& piece) {
      for (std::size_t pair = 0; pair < piece.text.size() / kPair; ++pair)
        sources.push_back(u32_at(piece.text, 2 * pair));
    });
  return sources;
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
  WeightColumn& column = conversion.options.column;
  if (shape.weighted && !edge.named) {
    column = third_column({first.text.data(), static_cast<std::size_t>(edge.at - first.text.data())});
    for (Input* const other : conversion.inputs.subspan(1))
      column = std::max(column, third_column(other->peek()));
  }
  BuildSummary summary = read_lines(conversion, shape, first, GraphShape::Numbering::dense);
  summary.third_is_weight = shape.weighted;
  return summary;
}

BuildSummary read_gap_text(Conversion conversion, bool weighted) {
  LineShape shape;
  shape.max_id = kMaxVertices - 1;
  shape.weighted = weighted && conversion.options.weighted;
  shape.fields = weighted ? 3 : 2;
  shape.hint = kMetisHint;
  return read_lines(conversion, shape, {}, GraphShape::Numbering::given);
}

BuildSummary read_u32_pairs(Conversion conversion) {
  BuildOptions& options = conversion.options;
  options.weighted = false;
  EdgeSink& sink = conversion.edges;
  GraphShape graph;
  graph.options = options;
  graph.name = conversion.input.path();
  sink.start(graph, sink.wants_sample() ? sample_pairs(conversion.inputs) : std::vector<std::uint64_t>());
  for (std::size_t i = 0; i < conversion.inputs.size(); ++i)
    conversion.inputs[i]->take_share(sink.rank(), sink.size(), 8, Input::kToEnd,
                                     static_cast<int>(i % static_cast<std::size_t>(sink.size())));
  std::vector<std::vector<std::uint64_t>> buffers(static_cast<std::size_t>(options.workers));
  Input::each_piece_of(
      conversion.inputs, options.workers, conversion.progress,
      [](Input& input, Piece& piece) { return input.next_records(piece, 8, Input::kToEnd); },
      [&](Input& input, int worker, const Piece& piece) {
        std::vector<std::uint64_t>& ids = buffers[static_cast<std::size_t>(worker)];
        ids.resize(piece.text.size() / 4);
        for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = u32_at(piece.text, i);
        const auto wrong =
            std::find_if(ids.begin(), ids.end(), [](std::uint64_t id) { return id >= kMaxVertices; });
        if (wrong != ids.end()) {
          input.fail(piece.offset + static_cast<std::uint64_t>(wrong - ids.begin()) * 4,
                     fmt::format("vertex id {} is larger than the {} that is supported{}", *wrong,
                                 kMaxVertices - 1, kMoreVertices));
        }
        sink.add(worker, ids, Weights());
      });
  return sink.write(0, conversion.progress);
}

}  // namespace edgewire::graph
