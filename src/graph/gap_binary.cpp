#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "base/available_memory.h"
#include "base/error.h"
#include "base/random.h"
#include "graph/format.h"
#include "graph/gap_format.h"
#include "graph/readers.h"

namespace edgewire::graph {

namespace {

struct GapHeader {
  bool directed = false;
  std::uint64_t edges = 0;
  std::uint64_t vertices = 0;
  std::uint64_t record_bytes = 4;  ///< of a neighbour

  std::uint64_t offsets_bytes() const { return (vertices + 1) * 8; }
  std::uint64_t targets_at() const { return kGapHeaderBytes + offsets_bytes(); }
  std::uint64_t targets_end() const { return targets_at() + edges * record_bytes; }
  std::uint64_t file_end() const {
    return directed ? targets_end() + offsets_bytes() + edges * record_bytes : targets_end();
  }
};

GapHeader read_header(Input& input, bool weighted) {
  std::uint8_t directed = 0;
  GapHeader header;
  input.read(&directed, 1);
  input.read(&header.edges, 8);
  input.read(&header.vertices, 8);
  header.directed = directed == 1;
  header.record_bytes = weighted ? 8 : 4;
  if (directed > 1)
    input.fail(0, fmt::format("the first byte should be 0 or 1 (directed), not {}", directed));
  if (header.edges > kMaxEdges / 2) input.fail(1, fmt::format("{} edges are out of range", header.edges));
  if (header.vertices > kMaxVertices)
    input.fail(9, fmt::format("{} vertices are out of range{}", header.vertices, kMoreVertices));
  if (!input.streamed() && input.file_bytes() != header.file_end()) {
    input.fail(std::min(input.file_bytes(), header.file_end()),
               fmt::format("the file has {} bytes but {} edges and {} vertices need {}", input.file_bytes(),
                           header.edges, header.vertices, header.file_end()));
  }
  return header;
}

/// Piece by piece, so that a short compressed file with large counts takes no memory.
std::vector<std::uint64_t> read_offsets(Input& input, const GapHeader& header) {
  require_memory(input.path(), header.offsets_bytes() * 2);
  std::vector<std::uint64_t> offsets;
  Piece piece;
  while (input.next_records(piece, 8, header.targets_at())) {
    const std::size_t have = offsets.size();
    offsets.resize(have + piece.text.size() / 8);
    std::memcpy(offsets.data() + have, piece.text.data(), piece.text.size());
  }
  const auto wrong = std::is_sorted_until(offsets.begin(), offsets.end());
  if (wrong != offsets.end() || offsets.front() != 0) {
    input.fail(kGapHeaderBytes +
                   static_cast<std::uint64_t>(wrong == offsets.end() ? 0 : wrong - offsets.begin()) * 8,
               "row offsets are not in order");
  }
  if (offsets.back() != header.edges) {
    input.fail(header.targets_at() - 8, "the last row offset is not the number of edges");
  }
  return offsets;
}

/// The rows of edges at equal distances.
std::vector<std::uint64_t> sample_rows(std::span<const std::uint64_t> offsets) {
  constexpr std::uint64_t kSamples = 20'000;
  const std::uint64_t step = std::max<std::uint64_t>(1, offsets.back() / kSamples);
  std::vector<std::uint64_t> rows;
  for (std::uint64_t edge = 0, row = 0; edge < offsets.back(); edge += step) {
    while (offsets[row + 1] <= edge) ++row;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

BuildSummary read_gap_binary(Conversion conversion, bool weighted) {
  Input& input = conversion.input;
  BuildOptions& options = conversion.options;
  const GapHeader header = read_header(input, weighted);
  const std::vector<std::uint64_t> offsets = read_offsets(input, header);
  options.weighted = options.weighted && weighted;
  options.undirected = options.undirected && header.directed;  // else both ways are there already
  GraphShape graph;
  graph.numbering = GraphShape::Numbering::counted;
  graph.vertices = header.vertices;
  graph.expected_edges = header.edges;
  graph.options = options;
  graph.name = input.path();
  EdgeSink& sink = conversion.edges;
  sink.start(graph, sink.wants_sample() ? sample_rows(offsets) : std::vector<std::uint64_t>());
  input.take_share(sink.rank(), sink.size(), header.record_bytes, header.targets_end());
  std::atomic<std::uint64_t> asymmetry{0};  // read after the workers have ended
  input.each_piece(
      options.workers, conversion.progress,
      [&](Piece& piece) { return input.next_records(piece, header.record_bytes, header.targets_end()); },
      [&](int worker, const Piece& piece) {
        std::uint64_t edge = (piece.offset - header.targets_at()) / header.record_bytes;
        auto row = static_cast<std::uint64_t>(std::upper_bound(offsets.begin(), offsets.end(), edge) -
                                              offsets.begin()) -
                   1;
        std::uint64_t difference = 0;
        std::vector<std::uint64_t> ids;
        WeightList weights;
        for (std::size_t at = 0; at < piece.text.size(); at += header.record_bytes, ++edge) {
          while (offsets[row + 1] <= edge) ++row;
          std::uint32_t target = 0;
          std::int32_t weight = 0;
          std::memcpy(&target, piece.text.data() + at, 4);
          if (weighted) std::memcpy(&weight, piece.text.data() + at + 4, 4);
          if (target >= header.vertices) {
            input.fail(piece.offset + at, fmt::format("target {} in a graph of {} vertices",
                                                      static_cast<std::int32_t>(target), header.vertices));
          }
          const auto source = static_cast<PlainId>(row);
          ids.insert(ids.end(), {source, target});
          if (options.weighted) weights.add(weight);
          if (!header.directed)
            difference +=
                edge_hash(source, PlainId{target}, weight) - edge_hash(PlainId{target}, source, weight);
        }
        sink.add(worker, ids, weights.view());
        asymmetry.fetch_add(difference, std::memory_order_relaxed);
      });
  if (sink.sum(asymmetry.load(std::memory_order_relaxed)) != 0) {
    throw Error(fmt::format(
        "{}: byte 0: the file says that it is undirected, but some edge is there in one direction only",
        input.path()));
  }
  Piece in_edges;  // a share has none
  while (input.next_records(in_edges, 1, header.file_end())) {
  }
  if (input.next_records(in_edges, 1, Input::kToEnd))
    input.fail(header.file_end(), "the file goes on after its end");
  return sink.write(header.directed ? 0U : std::uint32_t{kSymmetric}, conversion.progress);
}

}  // namespace edgewire::graph
