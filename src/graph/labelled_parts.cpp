#include "graph/labelled_parts.h"

#include <algorithm>
#include <utility>

#include "graph/vertex_names.h"

namespace edgewire::graph {

std::vector<std::string_view> number_vertices(std::vector<LabelledPart>& parts) {
  std::vector<std::string_view> names;
  for (const LabelledPart& part : parts)
    names.insert(names.end(), part.names.names().begin(), part.names.names().end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  parallel_for(static_cast<int>(parts.size()), parts.size(), [&](int, std::uint64_t index) {
    LabelledPart& part = parts[index];
    part.vertices.reserve(part.names.names().size());
    for (const std::string& name : part.names.names()) {
      part.vertices.push_back(
          static_cast<std::uint32_t>(std::lower_bound(names.begin(), names.end(), name) - names.begin()));
    }
  });
  return names;
}

BuildSummary build_labelled(Conversion& conversion, std::vector<LabelledPart>& parts,
                            const std::vector<std::string_view>& names) {
  std::vector<std::pair<const LabelledPart*, LabelledEdges*>> chunks;
  std::uint64_t edges = 0;
  for (LabelledPart& part : parts) {
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
        builder.add(worker, std::span(chunk.ids),
                    conversion.options.weighted ? chunk.weights.view() : Weights(),
                    [&](std::uint32_t name) { return vertex[name]; });
      },
      "numbering vertices", conversion.progress);
  return write_labelled(builder, *conversion.output, conversion.table, names, 0, conversion.progress);
}

}  // namespace edgewire::graph
