#include "graph/counted_edges.h"

#include <fmt/core.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "graph/available_memory.h"
#include "graph/format.h"

namespace edgewire::graph {

void check_counts(const Input& input, const Piece& piece, std::string_view line,
                  const CountedEdges& counted) {
  if (counted.vertices > kMaxVertices || counted.entries > kMaxEdges / 2) {
    input.fail_line(piece, line.data(), "more vertices or edges than are supported");
  }
  constexpr std::uint64_t kShortestEntry = 4;  // "1 1\n"
  if (!input.streamed() && counted.entries > input.file_bytes() / kShortestEntry + 1) {
    input.fail_line(piece, line.data(), fmt::format("the file is too short for {} entries", counted.entries));
  }
}

BuildSummary read_counted_edges(Conversion& conversion, const Piece& first, CountedEdges counted) {
  Input& input = conversion.input;
  BuildOptions& options = conversion.options;
  options.weighted = options.weighted && counted.weighted;
  LineShape& shape = counted.shape;
  shape.min_id = 1;
  shape.max_id = counted.vertices;
  shape.weighted = options.weighted;
  require_memory(input.path(), counted.vertices * 16);
  Builder builder(counted.vertices, counted.entries, options);
  std::atomic<std::uint64_t> entries{0};  // read after the workers have ended
  const auto take = [&](int worker, const ParsedEdges& edges) {
    const std::size_t count = edges.ids.size() / 2;
    for (std::size_t i = 0; i < count; ++i) {
      const auto source = static_cast<std::uint32_t>(edges.ids[2 * i] - 1);
      const auto target = static_cast<std::uint32_t>(edges.ids[2 * i + 1] - 1);
      const float weight = options.weighted ? edges.weights[i] : 0.0F;
      builder.add(worker, source, target, weight);
      if (counted.negated) builder.add(worker, target, source, -weight);
    }
    entries.fetch_add(count, std::memory_order_relaxed);
  };
  each_edge_piece(input, options.workers, shape, first, conversion.progress, take);
  const std::uint64_t found = entries.load(std::memory_order_relaxed);
  if (found != counted.entries) {
    input.fail(input.offset(), fmt::format("the file has {} entries but its {} says {}", found,
                                           counted.header, counted.entries));
  }
  std::vector<std::uint64_t> original_ids(counted.vertices);
  std::iota(original_ids.begin(), original_ids.end(), std::uint64_t{1});
  return builder.write(conversion.output, original_ids, 0, conversion.progress);
}

}  // namespace edgewire::graph
