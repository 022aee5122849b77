#include "graph/file/format.h"

#include <fmt/core.h>

#include <charconv>
#include <vector>

#include "base/checksum.h"

namespace edgewire::graph {

Header lay_out(std::uint64_t vertices, std::uint64_t edges, std::uint32_t flags,
               const std::optional<PartEntry>& part) {
  Header header{};
  header.magic = kMagic;
  header.version = part ? kPartVersion : kVersion;
  header.flags = flags | kIdFlag;
  header.vertices = vertices;
  header.edges = edges;
  header.part = part.value_or(PartEntry{});
  std::uint64_t offset = kPageBytes;
  for (std::uint32_t section = 0; section < kSections; ++section) {
    const Elements held = elements_of(header, section);
    const std::uint64_t bytes = (held.last - held.first) * held.bytes;
    const std::uint64_t lead = bytes > 0 ? held.first * held.bytes % kPageBytes : 0;
    header.sections[section] = {offset + lead, bytes};
    offset += pages_of(header.sections[section]).bytes;
  }
  header.checksums = {offset, first_block(header, kSections) * 8};
  return header;
}

Extent extent_of(const Header& header) {
  return is_part(header) ? header.part.extent : Extent{0, header.vertices, 0, header.edges};
}

Elements elements_of(const Header& header, std::uint32_t section) {
  const Extent held = extent_of(header);
  const bool weighted = (header.flags & kWeighted) != 0;
  const bool ids = (header.flags & kOriginalIds) != 0 && (!is_part(header) || header.part.holds_ids != 0);
  if (section == kOffsets) return {held.first_row, held.last_row + 1, 8};
  if (section == kTargets) return {held.first_edge, held.last_edge, sizeof(VertexId)};
  if (section == kIds) return {0, ids ? header.vertices : 0, 8};
  if (!weighted) return {0, 0, 4};
  return {held.first_edge, held.last_edge, bytes_of(weight_type(header.flags))};
}

std::uint64_t header_checksum(const Header& header) { return checksum(&header, offsetof(Header, checksum)); }

std::uint64_t graph_checksum(std::span<const Header> parts) {
  std::vector<std::uint64_t> facts;
  for (const Header& header : parts) {
    const Extent& held = header.part.extent;
    facts.insert(facts.end(),
                 {header.part.number, header.part.parts, header.flags, header.vertices, header.edges,
                  held.first_row, held.last_row, held.first_edge, held.last_edge, header.checksums_checksum});
  }
  return checksum(std::span<const std::uint64_t>(facts));
}

std::uint32_t section_of(const Header& header, std::uint64_t block) {
  std::uint32_t section = 0;
  while (block >= first_block(header, section + 1)) ++section;
  return section;
}

std::uint64_t first_block(const Header& header, std::uint32_t section) {
  std::uint64_t block = 0;
  for (std::uint32_t before = 0; before < section; ++before) block += blocks_of(header.sections[before]);
  return block;
}

std::uint64_t file_bytes(const Header& header) { return header.checksums.offset + header.checksums.bytes; }

std::string part_name(std::uint32_t number, std::uint32_t parts) {
  return fmt::format("{:04}-of-{:04}", number, parts);
}

std::optional<PartNumber> part_of_name(std::string_view name) {
  PartNumber part{};
  const char* const end = name.data() + name.size();
  const auto [middle, bad] = std::from_chars(name.data(), end, part.number);
  constexpr std::string_view kOf = "-of-";
  if (bad != std::errc() || !std::string_view(middle, end).starts_with(kOf)) return {};
  const auto [last, worse] = std::from_chars(middle + kOf.size(), end, part.parts);
  if (worse != std::errc() || last != end || name != part_name(part.number, part.parts)) return {};
  return part;
}

}  // namespace edgewire::graph
