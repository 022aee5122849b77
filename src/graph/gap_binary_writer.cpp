#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/available_memory.h"
#include "base/error.h"
#include "base/mapped_file.h"
#include "graph/gap_format.h"
#include "graph/text_output.h"
#include "graph/writers.h"

namespace edgewire::graph {

namespace {

constexpr std::uint64_t kWrittenBytes = 1 << 20;

/// As it is in the file.
struct WeightedNeighbour {
  std::uint32_t vertex;
  std::int32_t weight;
  bool operator<(const WeightedNeighbour& other) const {
    return vertex != other.vertex ? vertex < other.vertex : weight < other.weight;
  }
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
  neighbour = static_cast<std::uint32_t>(vertex);  // there are 2^31 at most
}

void set(WeightedNeighbour& neighbour, PlainId vertex, const Export& task, PlainId source,
         std::uint64_t index) {
  neighbour = {static_cast<std::uint32_t>(vertex), whole_weight(task, source, index)};
}

template <class T>
void write_array(const Export& task, OutputFile& file, const T* values, std::uint64_t count,
                 std::uint64_t offset) {
  constexpr std::uint64_t kValues = kWrittenBytes / sizeof(T);
  parallel_for(
      task.workers, (count + kValues - 1) / kValues,
      [&](int, std::uint64_t piece) {
        const std::uint64_t first = piece * kValues;
        file.write(values + first, std::min(kValues, count - first) * sizeof(T), offset + first * sizeof(T));
      },
      "writing", task.progress);
}

/// The edges as the graph has them, straight to the file.
template <class Neighbour>
void write_out_edges(const Export& task, const RowBlocks& blocks, OutputFile& file, std::uint64_t offset) {
  parallel_for(
      task.workers, blocks.count(),
      [&](int, std::uint64_t block) {
        std::vector<Neighbour> neighbours;
        std::uint64_t first = 0;
        blocks.visit(
            block,
            [&](PlainId row, std::uint64_t index) {
              if (neighbours.empty()) first = index;
              set(neighbours.emplace_back(), task.graph.targets()[index], task, row, index);
            },
            [](PlainId) {});
        file.write(neighbours.data(), neighbours.size() * sizeof(Neighbour),
                   offset + first * sizeof(Neighbour));
      },
      "writing", task.progress);
}

/// The edges by target, and in the order of their sources: offsets and neighbours.
template <class Neighbour>
void write_in_edges(const Export& task, const RowBlocks& blocks, OutputFile& file, std::uint64_t offset) {
  const GraphFile& graph = task.graph;
  const std::uint64_t vertices = graph.vertices();
  require_memory(task.output, (vertices + 1) * 8 + graph.edges() * sizeof(Neighbour));
  // ends[v + 1] becomes the place of v's first in-edge and, as edges are put there, of the one after its
  // last.
  std::vector<std::uint64_t> ends(vertices + 2);
  const auto each_edge = [&](const char* step, const auto& visit) {
    parallel_for(
        task.workers, blocks.count(),
        [&](int, std::uint64_t block) { blocks.visit(block, visit, [](PlainId) {}); }, step, task.progress);
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
  parallel_for(
      task.workers, (vertices + kRows - 1) / kRows,
      [&](int, std::uint64_t piece) {
        for (std::uint64_t v = piece * kRows; v < std::min((piece + 1) * kRows, vertices); ++v)
          std::sort(neighbours.data() + ends[v], neighbours.data() + ends[v + 1]);
      },
      "sorting edges", task.progress);
  write_array(task, file, ends.data(), vertices + 1, offset);
  write_array(task, file, neighbours.data(), neighbours.size(), offset + (vertices + 1) * 8);
}

template <class Neighbour>
WriteSummary write(const Export& task) {
  const GraphFile& graph = task.graph;
  const std::uint64_t offsets_bytes = (graph.vertices() + 1) * 8;
  const std::uint64_t direction_bytes = offsets_bytes + graph.edges() * sizeof(Neighbour);
  const std::uint64_t bytes = kGapHeaderBytes + direction_bytes * (graph.symmetric() ? 1 : 2);
  const RowBlocks blocks(graph);
  OutputFile file(task.output);
  file.reserve(bytes);
  std::array<char, kGapHeaderBytes> header{};
  header[0] = graph.symmetric() ? 0 : 1;
  const std::array<std::uint64_t, 2> counts = {graph.edges(), graph.vertices()};
  std::memcpy(header.data() + 1, counts.data(), sizeof counts);
  file.write(header.data(), header.size(), 0);
  write_array(task, file, graph.offsets().data(), graph.vertices() + 1, kGapHeaderBytes);
  write_out_edges<Neighbour>(task, blocks, file, kGapHeaderBytes + offsets_bytes);
  if (!graph.symmetric()) write_in_edges<Neighbour>(task, blocks, file, kGapHeaderBytes + direction_bytes);
  refuse_changed_files();
  file.commit();
  return {graph.edges(), bytes, 0, 0};
}

}  // namespace

WriteSummary write_gap_binary(const Export& task, bool weighted) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  if (task.graph.vertices() > kMost) {
    throw Error(
        fmt::format("{}: GAP's formats take 2147483648 vertices at most, but the graph has {}; write .mtx",
                    task.output, task.graph.vertices()));
  }
  return weighted ? write<WeightedNeighbour>(task) : write<std::uint32_t>(task);
}

}  // namespace edgewire::graph
