// Graph files whose weights have any type that the format knows.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "base/checksum.h"
#include "edgewire/graph.h"
#include "graph/file/format.h"
#include "graph_test.h"

namespace edgewire::graph {

/// Writes the file and opens it.
template <class Weight>
Graph make_weighted(const std::string& path, std::uint64_t vertices,
                    std::vector<std::tuple<std::uint32_t, std::uint32_t, Weight>> edges) {
  std::ranges::sort(edges);
  std::vector<std::uint64_t> offsets(vertices + 1);
  std::vector<PlainId> targets;
  std::vector<Weight> weights;
  for (const auto& [source, target, weight] : edges) {
    ++offsets[source + std::size_t{1}];
    targets.push_back(target);
    weights.push_back(weight);
  }
  for (std::size_t v = 0; v < vertices; ++v) offsets[v + 1] += offsets[v];
  Header header = lay_out(vertices, edges.size(), weight_flags(weight_type_of<Weight>()));
  std::string bytes(file_bytes(header), '\0');
  std::memcpy(&bytes[header.sections[kOffsets].offset], offsets.data(), offsets.size() * 8);
  if (!edges.empty()) {
    std::memcpy(&bytes[header.sections[kTargets].offset], targets.data(), targets.size() * sizeof(PlainId));
    std::memcpy(&bytes[header.sections[kWeights].offset], weights.data(), weights.size() * sizeof(Weight));
  }
  std::vector<std::uint64_t> checksums;
  for (const SectionEntry& section : header.sections) {
    const std::uint64_t end = padded(section.bytes);
    for (std::uint64_t at = 0; at < end; at += kBlockBytes)
      checksums.push_back(checksum(&bytes[section.offset + at], std::min(kBlockBytes, end - at)));
  }
  std::memcpy(&bytes[header.checksums.offset], checksums.data(), header.checksums.bytes);
  header.checksums_checksum = checksum(checksums.data(), header.checksums.bytes);
  header.checksum = header_checksum(header);
  std::memcpy(bytes.data(), &header, sizeof header);
  write_file(path, bytes);
  return Graph::open(path);
}

}  // namespace edgewire::graph
