#include "graph/join_parts.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "graph/checksum.h"
#include "graph/format.h"
#include "graph/mapped_file.h"
#include "graph/parallel.h"

namespace edgewire::graph {

namespace {

std::uint32_t flags_of(const GraphFile& graph) {
  std::uint32_t flags = (graph.simple() ? std::uint32_t{kSimple} : 0U) |
                        (graph.symmetric() ? std::uint32_t{kSymmetric} : 0U) |
                        (graph.has_original_ids() ? std::uint32_t{kOriginalIds} : 0U);
  if (!graph.weighted()) return flags;
  flags |= weight_flags(graph.weights().type());
  if (graph.float_weights() && graph.weights().type() != WeightType::f32) flags |= kFloatWeights;
  if (graph.weights_doubtful()) flags |= kDoubtfulWeights;
  return flags;
}

/// Checks the rows that hold edges [first, last). Their offsets are right already.
void verify_edges(const GraphFile& graph, std::uint64_t first, std::uint64_t last) {
  const auto offsets = graph.offsets();
  const auto begin = std::ranges::upper_bound(offsets, first) - offsets.begin() - 1;
  const auto end = std::ranges::lower_bound(offsets, last) - offsets.begin();
  graph.verify_rows(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end));
}

/// Copies elements [first, first + count) of a section, each of `size` bytes.
void copy(const GraphFile& graph, std::uint32_t section, std::uint64_t first, std::uint64_t count,
          std::uint64_t size, std::byte* to) {
  if (section == kTargets || section == kWeights) verify_edges(graph, first, first + count);
  if (section == kOffsets) std::memcpy(to, graph.offsets().data() + first, count * size);
  if (section == kTargets) std::memcpy(to, graph.targets().data() + first, count * size);
  if (section == kWeights)
    graph.weights().visit([&](const auto all) { std::memcpy(to, all.data() + first, count * size); });
  for (std::uint64_t i = 0; section == kIds && i < count; ++i) {
    const std::uint64_t id = graph.original_id(VertexId(static_cast<PlainId>(first + i)));
    std::memcpy(to + i * size, &id, size);
  }
}

}  // namespace

BuildSummary join_parts(const GraphFile& graph, OutputFile& output, const BuildOptions& options,
                        const Progress& progress) {
  graph.expect_all_rows();
  require_edges(options, graph.edges());
  graph.verify_offsets(0, graph.vertices());
  Header header = lay_out(graph.vertices(), graph.edges(), flags_of(graph));
  output.reserve(file_bytes(header));
  std::vector<std::uint64_t> checksums(header.checksums.bytes / 8);
  std::vector<std::vector<std::byte>> blocks(static_cast<std::size_t>(options.workers));
  parallel_for(
      options.workers, checksums.size(),
      [&](int worker, std::uint64_t number) {
        std::uint32_t section = 0;
        while (number >= first_block(header, section + 1)) ++section;
        const SectionEntry& entry = header.sections[section];
        const std::uint64_t start = (number - first_block(header, section)) * kBlockBytes;
        const std::uint64_t bytes = std::min(kBlockBytes, entry.bytes - start);
        const std::uint64_t size = elements_of(header, section).bytes, first = start / size;
        std::vector<std::byte>& block = blocks[static_cast<std::size_t>(worker)];
        block.assign(padded(bytes), std::byte{0});
        copy(graph, section, first, bytes / size, size, block.data());
        checksums[number] = graph::checksum(block.data(), block.size());
        output.write(block.data(), block.size(), entry.offset + start);
      },
      "joining parts", progress);
  output.write(checksums.data(), header.checksums.bytes, header.checksums.offset);
  header.checksums_checksum = graph::checksum(checksums.data(), header.checksums.bytes);
  header.checksum = header_checksum(header);
  output.write(&header, sizeof header, 0);
  refuse_changed_files();
  output.commit();
  return {graph.vertices(),        graph.edges(), 0,     file_bytes(header),
          header.checksum,         false,         false, graph.weights().type(),
          graph.weights_doubtful()};
}

}  // namespace edgewire::graph
