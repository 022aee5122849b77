// Graphs in parts, written from graph files as format.h describes them.
#pragma once

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "graph/file/format.h"
#include "graph_test.h"

namespace edgewire::graph {

/// Makes the checksum of a header right.
inline void seal_header(std::string& bytes) {
  const std::uint64_t sum = XXH3_64bits(bytes.data(), kPageBytes - 8);
  std::memcpy(&bytes[kPageBytes - 8], &sum, 8);
}

/// Appends elements [first, last) of a section of the file `whole`, and the checksums of their blocks.
inline void append_section(const std::string& whole, std::uint32_t section, std::uint64_t size,
                           std::uint64_t first, std::uint64_t last, Header& header, std::string& bytes,
                           std::vector<std::uint64_t>& sums) {
  Header from;
  std::memcpy(&from, whole.data(), sizeof from);
  const std::uint64_t begin = bytes.size(), lead = first < last ? first * size % 4096 : 0;
  header.sections[section] = {begin + lead, (last - first) * size};
  bytes.append(lead, '\0');
  bytes += whole.substr(from.sections[section].offset + first * size, (last - first) * size);
  bytes.append((4096 - bytes.size() % 4096) % 4096, '\0');
  for (std::uint64_t at = begin; at < bytes.size(); at += 1 << 20)
    sums.push_back(XXH3_64bits(&bytes[at], std::min<std::uint64_t>(1 << 20, bytes.size() - at)));
}

/// Returns the parts of the graph file, which end before these rows, the last one with the last row. Ids are
/// in part `with_ids`.
inline std::vector<std::string> parts_of(const std::string& whole, const std::vector<std::uint64_t>& ends,
                                         std::uint32_t with_ids = 0) {
  Header from;
  std::memcpy(&from, whole.data(), sizeof from);
  std::vector<std::uint64_t> offsets(from.vertices + 1);
  std::memcpy(offsets.data(), &whole[from.sections[kOffsets].offset], offsets.size() * 8);
  const std::uint64_t edges = std::max<std::uint64_t>(from.edges, 1);
  std::vector<std::string> parts;
  std::uint64_t first = 0;
  for (const std::uint64_t last : ends) {
    Header header{};
    std::vector<std::uint64_t> sums;
    header.magic = kMagic;
    header.version = 2;
    header.flags = from.flags;
    header.vertices = from.vertices;
    header.edges = from.edges;
    const bool ids = parts.size() == with_ids && (from.flags & kOriginalIds) != 0;
    header.part = {static_cast<std::uint32_t>(parts.size()),
                   static_cast<std::uint32_t>(ends.size()),
                   ids ? 1U : 0U,
                   0,
                   {first, last, offsets[first], offsets[last]},
                   from.checksum + ends.size()};
    std::string bytes(4096, '\0');
    append_section(whole, kOffsets, 8, first, last + 1, header, bytes, sums);
    append_section(whole, kTargets, from.sections[kTargets].bytes / edges, offsets[first], offsets[last],
                   header, bytes, sums);
    append_section(whole, kWeights, from.sections[kWeights].bytes / edges, offsets[first], offsets[last],
                   header, bytes, sums);
    append_section(whole, kIds, 8, 0, ids ? from.vertices : 0, header, bytes, sums);
    if ((from.flags & kWeighted) == 0) header.sections[kWeights].bytes = 0;
    header.checksums = {bytes.size(), sums.size() * 8};
    header.checksums_checksum = XXH3_64bits(sums.data(), sums.size() * 8);
    bytes.append(reinterpret_cast<const char*>(sums.data()), sums.size() * 8);
    std::memcpy(bytes.data(), &header, sizeof header);
    seal_header(bytes);
    parts.push_back(std::move(bytes));
    first = last;
  }
  return parts;
}

/// Returns "FOLDER/0002-of-0004".
inline std::string part_path(const std::string& folder, std::size_t number, std::size_t parts) {
  return fmt::format("{}/{:04}-of-{:04}", folder, number, parts);
}

inline void write_parts(const std::string& folder, const std::vector<std::string>& parts) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  for (std::size_t p = 0; p < parts.size(); ++p) write_file(part_path(folder, p, parts.size()), parts[p]);
}

}  // namespace edgewire::graph
