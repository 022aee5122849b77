#include "graph/counted_edges.h"

#include <fmt/core.h>

#include <atomic>
#include <utility>
#include <vector>

#include "graph/edge_list.h"
#include "graph/format.h"

namespace edgewire::graph {

void check_counts(const Input& input, const Piece& piece, std::string_view line,
                  const CountedEdges& counted) {
  if (counted.vertices > kMaxVertices || counted.entries > kMaxEdges / 2) {
    input.fail_line(piece, line.data(),
                    fmt::format("more vertices or edges than are supported{}",
                                counted.vertices > kMaxVertices ? kMoreVertices : ""));
  }
  constexpr std::uint64_t kShortestEntry = 4;  // "1 1\n"
  if (!input.streamed() && counted.entries > input.file_bytes() / kShortestEntry + 1) {
    input.fail_line(piece, line.data(), fmt::format("the file is too short for {} entries", counted.entries));
  }
}

namespace {

/// Each edge the other way, its weight negated.
void add_negated(EdgeSink& sink, int worker, const ParsedEdges& edges) {
  std::vector<std::uint64_t> ids = edges.all_ids();
  WeightList weights;
  for (std::size_t i = 0; i < ids.size(); i += 2) std::swap(ids[i], ids[i + 1]);
  for (std::size_t i = 0; i < edges.weights.view().size(); ++i) weights.add(-edges.weights.view()[i]);
  sink.add(worker, ids, weights.view());
}

}  // namespace

BuildSummary read_counted_edges(Conversion& conversion, const Piece& first, CountedEdges counted) {
  Input& input = conversion.input;
  BuildOptions& options = conversion.options;
  const bool sparse = !options.keep_ids && are_sparse(counted.vertices, counted.entries);
  options.weighted = options.weighted && counted.weighted;
  LineShape& shape = counted.shape;
  shape.min_id = 1;
  shape.max_id = counted.vertices;
  shape.origin = sparse ? 0 : 1;
  shape.weighted = options.weighted;
  shape.rounded = &conversion.rounded;
  GraphShape graph;
  graph.numbering = sparse ? GraphShape::Numbering::dense : GraphShape::Numbering::counted;
  graph.vertices = counted.vertices;
  graph.expected_edges = counted.entries;
  graph.first_id = shape.origin;
  graph.options = options;
  graph.name = input.path();
  EdgeSink& sink = conversion.edges;
  sink.start(graph,
             sink.wants_sample() ? sample_sources(conversion.inputs, shape) : std::vector<std::uint64_t>());
  std::atomic<std::uint64_t> entries{0};  // read after the workers have ended
  const auto take = [&](int worker, const ParsedEdges& edges) {
    edges.add_to(sink, worker);
    if (counted.negated) add_negated(sink, worker, edges);
    entries.fetch_add(edges.size(), std::memory_order_relaxed);
  };
  each_edge_piece(conversion.inputs, options.workers, shape, first, conversion.progress, sink.rank(),
                  sink.size(), take);
  const std::uint64_t found = sink.sum(entries.load(std::memory_order_relaxed));
  if (found != counted.entries) {
    input.fail(input.offset(), fmt::format("the file has {} entries but its {} says {}", found,
                                           counted.header, counted.entries));
  }
  BuildSummary summary = sink.write(0, conversion.progress);
  summary.compacted = sparse;
  return summary;
}

}  // namespace edgewire::graph
