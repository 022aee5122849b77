#include "graph/join_parts.h"

#include <algorithm>
#include <cstring>

#include "base/mapped_file.h"
#include "graph/file_sections.h"
#include "graph/format.h"

namespace edgewire::graph {

namespace {

/// Checks the rows that hold edges [first, last). Their offsets are right already.
void verify_edges(const GraphFile& graph, std::uint64_t first, std::uint64_t last) {
  const auto offsets = graph.offsets();
  const auto begin = std::ranges::upper_bound(offsets, first) - offsets.begin() - 1;
  const auto end = std::ranges::lower_bound(offsets, last) - offsets.begin();
  graph.verify_rows(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end));
}

}  // namespace

BuildSummary join_parts(const GraphFile& graph, OutputFile& output, const BuildOptions& options,
                        const Progress& progress) {
  graph.expect_all_rows();
  require_edges(options, graph.edges());
  graph.verify_offsets(0, graph.vertices());
  Header header = lay_out(graph.vertices(), graph.edges(), graph.flags());
  const auto fill = [&](std::uint32_t section, std::uint64_t first, std::uint64_t count, std::byte* to) {
    const auto put = [&](const auto& all) {
      std::memcpy(to, all.data() + first, count * sizeof *all.data());
    };
    if (section == kTargets || section == kWeights) verify_edges(graph, first, first + count);
    if (section == kOffsets) put(graph.offsets());
    if (section == kTargets) put(graph.targets());
    if (section == kWeights) graph.weights().visit(put);
    for (std::uint64_t i = 0; section == kIds && i < count; ++i) {
      const std::uint64_t id = graph.original_id(VertexId(static_cast<PlainId>(first + i)));
      std::memcpy(to + i * sizeof id, &id, sizeof id);
    }
  };
  write_sections(output, header, options.workers, fill, "joining parts", progress);
  refuse_changed_files();
  output.commit();
  return {graph.vertices(),        graph.edges(), 0,     file_bytes(header),
          header.checksum,         false,         false, graph.weights().type(),
          graph.weights_doubtful()};
}

}  // namespace edgewire::graph
