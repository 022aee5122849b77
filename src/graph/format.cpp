#include "graph/format.h"

#include "graph/checksum.h"

namespace edgewire::graph {

Header lay_out(std::uint64_t vertices, std::uint64_t edges, std::uint32_t flags) {
  Header header{};
  header.magic = kMagic;
  header.version = kVersion;
  header.flags = flags | kIdFlag;
  header.vertices = vertices;
  header.edges = edges;
  const std::array<std::uint64_t, kSections> bytes = {
      (vertices + 1) * 8, edges * sizeof(VertexId),
      (flags & kWeighted) != 0 ? edges * bytes_of(weight_type(flags)) : 0,
      (flags & kOriginalIds) != 0 ? vertices * 8 : 0};
  std::uint64_t offset = kPageBytes;
  for (std::uint32_t section = 0; section < kSections; ++section) {
    header.sections[section] = {offset, bytes[section]};
    offset += padded(bytes[section]);
  }
  header.checksums = {offset, first_block(header, kSections) * 8};
  return header;
}

std::uint64_t header_checksum(const Header& header) {
  return graph::checksum(&header, offsetof(Header, checksum));
}

std::uint64_t first_block(const Header& header, std::uint32_t section) {
  std::uint64_t block = 0;
  for (std::uint32_t before = 0; before < section; ++before)
    block += blocks_of(header.sections[before].bytes);
  return block;
}

std::uint64_t file_bytes(const Header& header) { return header.checksums.offset + header.checksums.bytes; }

}  // namespace edgewire::graph
