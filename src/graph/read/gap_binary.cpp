// GAP's serialized graphs, .sg and .wsg: their reader and their writer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <compare>
#include <cstring>
#include <numeric>

#include "base/control_group.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "graph/file/format.h"
#include "graph/read/readers.h"
#include "graph/write/writers.h"

namespace edgewire::graph {

namespace {

/// The bytes of the header: u8 directed, i64 edges, i64 vertices; the layout is in readers.h.
constexpr std::uint64_t kGapHeaderBytes = 1 + 8 + 8;

struct GapHeader {
  bool directed = false;
  std::uint64_t edges = 0, vertices = 0;
  std::uint64_t record_bytes = 4;  ///< size in bytes of a neighbour

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
  if (!input.streamed() && input.file_bytes() != header.file_end())
    input.fail(std::min(input.file_bytes(), header.file_end()),
               fmt::format("the file has {} bytes but {} edges and {} vertices need {}", input.file_bytes(),
                           header.edges, header.vertices, header.file_end()));
  return header;
}

/// Reads the offsets piece by piece, so that a short compressed file with large counts takes little memory.
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
  if (wrong != offsets.end() || offsets.front() != 0)
    input.fail(kGapHeaderBytes +
                   static_cast<std::uint64_t>(wrong == offsets.end() ? 0 : wrong - offsets.begin()) * 8,
               "row offsets are not in order");
  if (offsets.back() != header.edges)
    input.fail(header.targets_at() - 8, "the last row offset is not the number of edges");
  return offsets;
}

/// Returns the rows of edges at equal distances.
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

constexpr std::uint64_t kWrittenBytes = 1 << 20;

/// A neighbour and its weight, as they are in the file.
struct WeightedNeighbour {
  std::uint32_t vertex;
  std::int32_t weight;
  // NOLINTNEXTLINE(modernize-use-nullptr): there is no pointer
  auto operator<=>(const WeightedNeighbour&) const = default;
};

std::int32_t whole_weight(const Export& task, PlainId source, std::uint64_t index) {
  const Weight weight = task.graph.weights().at(index);
  const double number = weight.number();
  if (number == std::trunc(number) && number >= -2147483648.0 && number < 2147483648.0)
    return static_cast<std::int32_t>(number);
  throw Error(
      fmt::format("{}: .wsg takes weights that are 32-bit whole numbers, but the edge from vertex {} to {} "
                  "weighs {}; write .wel, or leave weights out with .sg",
                  task.output, source, task.graph.targets()[index], to_text(weight)));
}

void set(std::uint32_t& neighbour, PlainId vertex, const Export&, PlainId, std::uint64_t) {
  neighbour = static_cast<std::uint32_t>(vertex);  // there are at most 2^31 vertices
}

void set(WeightedNeighbour& neighbour, PlainId vertex, const Export& task, PlainId source,
         std::uint64_t index) {
  neighbour = {static_cast<std::uint32_t>(vertex), whole_weight(task, source, index)};
}

template <class T>
void write_array(const Export& task, OutputFile& file, const T* values, std::uint64_t count,
                 std::uint64_t offset) {
  constexpr std::uint64_t kValues = kWrittenBytes / sizeof(T);
  parallel_for(task.workers, (count + kValues - 1) / kValues, "writing", task.progress,
               [&](int, std::uint64_t piece) {
                 const std::uint64_t first = piece * kValues, some = std::min(kValues, count - first);
                 file.write(values + first, some * sizeof(T), offset + first * sizeof(T));
               });
}

/// Writes the edges as the graph has them, straight to the file.
template <class Neighbour>
void write_out_edges(const Export& task, const RowBlocks& blocks, OutputFile& file, std::uint64_t offset) {
  parallel_for(task.workers, blocks.count(), "writing", task.progress, [&](int, std::uint64_t block) {
    std::vector<Neighbour> neighbours;
    std::uint64_t first = 0;
    blocks.visit(block, [&](PlainId row, std::uint64_t index) {
      if (neighbours.empty()) first = index;
      set(neighbours.emplace_back(), task.graph.targets()[index], task, row, index);
    });
    file.write(neighbours.data(), neighbours.size() * sizeof(Neighbour), offset + first * sizeof(Neighbour));
  });
}

/// Writes the edges by target, and in the order of their sources: offsets and neighbours.
template <class Neighbour>
void write_in_edges(const Export& task, const RowBlocks& blocks, OutputFile& file, std::uint64_t offset) {
  const Graph& graph = task.graph;
  const std::uint64_t vertices = graph.vertices();
  require_memory(task.output, (vertices + 1) * 8 + graph.edges() * sizeof(Neighbour));
  // ends[v + 1] becomes the place of v's first in-edge and, as edges are put there, of the one after its
  // last.
  std::vector<std::uint64_t> ends(vertices + 2);
  const auto each_edge = [&](const char* step, const auto& visit) {
    parallel_for(task.workers, blocks.count(), step, task.progress,
                 [&](int, std::uint64_t block) { blocks.visit(block, visit); });
  };
  each_edge("counting", [&](PlainId, std::uint64_t index) {
    std::atomic_ref(ends[graph.targets()[index] + std::uint64_t{2}]).fetch_add(1, std::memory_order_relaxed);
  });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  std::vector<Neighbour> neighbours(graph.edges());
  each_edge("turning edges", [&](PlainId row, std::uint64_t index) {
    const std::uint64_t place = std::atomic_ref(ends[graph.targets()[index] + std::uint64_t{1}])
                                    .fetch_add(1, std::memory_order_relaxed);
    set(neighbours[place], row, task, row, index);
  });
  constexpr std::uint64_t kRows = 1 << 12;
  const std::uint64_t pieces = (vertices + kRows - 1) / kRows;
  parallel_for(task.workers, pieces, "sorting edges", task.progress, [&](int, std::uint64_t piece) {
    for (std::uint64_t v = piece * kRows; v < std::min((piece + 1) * kRows, vertices); ++v)
      std::sort(neighbours.data() + ends[v], neighbours.data() + ends[v + 1]);
  });
  write_array(task, file, ends.data(), vertices + 1, offset);
  write_array(task, file, neighbours.data(), neighbours.size(), offset + (vertices + 1) * 8);
}

template <class Neighbour>
WriteSummary write(const Export& task) {
  const Graph& graph = task.graph;
  const GapHeader layout{!graph.symmetric(), graph.edges(), graph.vertices(), sizeof(Neighbour)};
  const RowBlocks blocks(graph);
  OutputFile file(task.output);
  file.reserve(layout.file_end());
  std::array<char, kGapHeaderBytes> header{};
  header[0] = layout.directed ? 1 : 0;
  const std::array<std::uint64_t, 2> counts = {layout.edges, layout.vertices};
  std::memcpy(header.data() + 1, counts.data(), sizeof counts);
  file.write(header.data(), header.size(), 0);
  write_array(task, file, graph.offsets().data(), graph.vertices() + 1, kGapHeaderBytes);
  write_out_edges<Neighbour>(task, blocks, file, layout.targets_at());
  if (layout.directed) write_in_edges<Neighbour>(task, blocks, file, layout.targets_end());
  refuse_changed_files();
  file.commit();
  return {layout.edges, layout.file_end(), 0, 0};
}

}  // namespace

BuildSummary read_gap_binary(Conversion conversion, bool weighted) {
  Input& input = conversion.input;
  BuildOptions& options = conversion.options;
  const GapHeader header = read_header(input, weighted);
  const std::vector<std::uint64_t> offsets = read_offsets(input, header);
  options.weighted = options.weighted && weighted;
  options.undirected = options.undirected && header.directed;  // an undirected file has both ways already
  start(conversion,
        {.numbering = GraphShape::Numbering::counted,
         .vertices = header.vertices,
         .expected_edges = header.edges},
        [&] { return sample_rows(offsets); });
  EdgeSink& sink = conversion.edges;
  input.take_share(sink.rank(), sink.size(), header.record_bytes, header.targets_end());
  std::atomic<std::uint64_t> asymmetry{0};  // read after the workers have ended
  Input::each_piece(
      conversion.inputs, options.workers, conversion.progress,
      [&](Input&, Piece& piece) {
        return input.next_records(piece, header.record_bytes, header.targets_end());
      },
      [&](Input&, int worker, const Piece& piece) {
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
          if (target >= header.vertices)
            input.fail(piece.offset + at, fmt::format("target {} is beyond the graph's {} vertices",
                                                      static_cast<std::int32_t>(target), header.vertices));
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
  if (sink.sum(asymmetry.load(std::memory_order_relaxed)) != 0)
    throw Error(fmt::format(
        "{}: byte 0: the file says that it is undirected, but some edge goes in one direction only",
        input.path()));
  Piece in_edges;  // a share has no in-edges
  while (input.next_records(in_edges, 1, header.file_end())) {
  }
  if (input.next_records(in_edges, 1, Input::kToEnd))
    input.fail(header.file_end(), "the file goes on after its end");
  return sink.write(header.directed ? 0U : std::uint32_t{kSymmetric}, conversion.progress);
}

WriteSummary write_gap_binary(const Export& task) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  if (task.graph.vertices() > kMost)
    throw Error(
        fmt::format("{}: GAP's formats take 2147483648 vertices at most, but the graph has {}; write .mtx",
                    task.output, task.graph.vertices()));
  return task.weights ? write<WeightedNeighbour>(task) : write<std::uint32_t>(task);
}

}  // namespace edgewire::graph
