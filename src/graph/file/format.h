// The graph/file folder has our binary format: it builds, checks and maps .ew files, also those that are in
// parts, and knows the names of their vertices. This file has the layout.
//
// The layout of an .ew file, all little endian:
//
//   header page      4096 bytes, ends with its own checksum
//   offsets          u64[vertices + 1]  index of each vertex's first edge; offsets[vertices] = edges
//   targets          u32[edges]         sorted in each row; u64[edges] in a file with 64-bit ids
//   weights          T[edges]           when weighted: sorted among equal targets; all finite. T is f32, f64,
//                                       u32 or u64: see Flag
//   original ids     u64[vertices]      when ids were renumbered: ascending
//   checksums        u64[blocks]        XXH3-64 of every block of the four sections, in order
//
// Sections begin at multiples of 4096 and are padded with zeros to the next one. Each is cut into blocks of 1
// MiB, the last one shorter (padding included), so that a reader can check just what it reads. The header
// holds the checksum of the checksums. A graph of more than 2^32 - 2 vertices has 64-bit ids, which only
// edgewire-wide reads and writes, and it reads and writes no others. Vertices, edges and flags determine the
// whole layout; a file that states another one is refused.
//
// A graph may also lie in a folder, in several parts: g.ew/0000-of-0004 and so on, each a file of this layout
// but for what follows. The version is 2. The header says which rows and edges the part has (PartEntry).
// Offsets are those of its rows and the end of the last one, as indices of edges of the whole graph. Original
// ids, if any, are those of all vertices, in the first part that was written to the folder. The data of a
// section lies at the same place within a page as in the whole section, behind zeros, so that the parts of
// a section can be mapped one behind the other; blocks begin at the page.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/mapped_file.h"
#include "edgewire/numbering.h"
#include "graph/file/weights.h"

namespace edgewire::graph {

static_assert(std::endian::native == std::endian::little, "files are mapped as they are");

inline constexpr std::uint64_t kBlockBytes = 1 << 20;
inline constexpr std::array<char, 8> kMagic = {'E', 'D', 'G', 'E', 'W', 'I', 'R', 'E'};
inline constexpr std::uint32_t kVersion = 1;
inline constexpr std::uint32_t kPartVersion = 2;
inline constexpr std::uint32_t kMaxParts = 1 << 20;
/// The most vertices that a graph may have. With ids of 32 bits, 2^32 - 1 means "no vertex". With 64 bits, it
/// keeps every byte count far from overflow.
inline constexpr std::uint64_t kMaxVertices = kIds64 ? std::uint64_t{1} << 48 : 0xFFFF'FFFE;
/// The words of messages behind that number.
inline constexpr std::string_view kMoreVertices =
    kIds64 ? "" : "; edgewire-wide, which is built with -Did_bits=64, takes more";
/// Limit that keeps byte counts far from overflow.
inline constexpr std::uint64_t kMaxEdges = std::uint64_t{1} << 44;

enum Flag : std::uint32_t {
  kWeighted = 1,
  kSimple = 2,
  kSymmetric = 4,
  kOriginalIds = 8,
  kLabels = 16,
  kWideWeights = 32,   ///< says that weights have 8 bytes, not 4
  kWholeWeights = 64,  ///< says that weights are unsigned whole numbers, not floating point
  /// Says that weights are a third column that nothing calls weights, and may be times.
  kDoubtfulWeights = 128,
  /// Says that, whatever the type of weights, a float holds each as well as a double does.
  kFloatWeights = 256,
  kWideIds = 512,  ///< says that targets have 8 bytes, not 4: the file is one of edgewire-wide
  kAllFlags = 511 | (kIds64 ? kWideIds : 0)  ///< all flags that files of this program may have
};

/// All files that this program reads and writes have this flag; it is 0 where they have none.
inline constexpr std::uint32_t kIdFlag = kIds64 ? std::uint32_t{kWideIds} : 0U;

enum Section : std::uint32_t { kOffsets, kTargets, kWeights, kIds, kSections };

struct SectionEntry {
  std::uint64_t offset;  ///< place of the first byte of data in the file
  std::uint64_t bytes;   ///< number of bytes without padding
  bool operator==(const SectionEntry&) const = default;
};

/// The part of the graph that a file holds: rows [first_row, last_row) and edges [first_edge, last_edge).
struct Extent {
  std::uint64_t first_row, last_row, first_edge, last_edge;
};

/// The facts that the header of a part adds. In a file that holds the whole graph all of it is 0.
struct PartEntry {
  std::uint32_t number, parts;
  std::uint32_t holds_ids;  ///< whether (1) the original ids of all vertices are in this part
  std::uint32_t unused;
  Extent extent;
  std::uint64_t graph_checksum;  ///< checksum of all parts, and the same in each
};

struct Header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t flags;
  std::uint64_t vertices;  ///< number of vertices of the whole graph, as edges and flags
  std::uint64_t edges;
  std::array<SectionEntry, kSections> sections;  ///< absent ones have 0 bytes
  SectionEntry checksums;
  std::uint64_t checksums_checksum;
  PartEntry part;
  std::array<std::uint8_t, 4096 - 128 - sizeof(PartEntry)> reserved;  ///< zeros
  std::uint64_t checksum;                                             ///< XXH3-64 of all the bytes before it
};
static_assert(sizeof(Header) == kPageBytes && std::is_trivially_copyable_v<Header>);
static_assert(offsetof(Header, sections) == 32 && offsetof(Header, checksum) == kPageBytes - 8);
static_assert(kBlockBytes % kPageBytes == 0);

/// Returns the zeros before the section's data.
constexpr std::uint64_t lead_of(const SectionEntry& entry) { return entry.offset % kPageBytes; }
/// Returns the pages that hold the section: where they begin in the file, and their bytes.
constexpr SectionEntry pages_of(const SectionEntry& entry) {
  return {entry.offset - lead_of(entry), padded(lead_of(entry) + entry.bytes)};
}
constexpr std::uint64_t blocks_of(const SectionEntry& entry) {
  return (pages_of(entry).bytes + kBlockBytes - 1) / kBlockBytes;
}

/// Returns the flags of a graph whose weights have this type.
constexpr std::uint32_t weight_flags(WeightType type) {
  return kWeighted | (bytes_of(type) == 8 ? std::uint32_t{kWideWeights} : 0U) |
         (is_whole(type) ? std::uint32_t{kWholeWeights} : 0U);
}
/// Returns the type of the weights of a graph with these flags.
constexpr WeightType weight_type(std::uint32_t flags) {
  const bool wide = (flags & kWideWeights) != 0;
  if ((flags & kWholeWeights) != 0) return wide ? WeightType::u64 : WeightType::u32;
  return wide ? WeightType::f64 : WeightType::f32;
}

/// Returns the weights in a file with this header, which are at `data`.
inline Weights weights_at(const std::uint8_t* data, const Header& header) {
  const WeightType type = weight_type(header.flags);
  return {type, data, header.sections[kWeights].bytes / bytes_of(type)};
}

/// The elements of a section that a file holds, as numbers in the whole section.
struct Elements {
  std::uint64_t first, last;
  std::uint64_t bytes;  ///< size of one element
};

/// Returns the header of a graph, or of one part of it, complete but for the checksums, with kIdFlag. Expects
/// counts within the limits above.
Header lay_out(std::uint64_t vertices, std::uint64_t edges, std::uint32_t flags,
               const std::optional<PartEntry>& part = {});
inline bool is_part(const Header& header) { return header.version == kPartVersion; }
Extent extent_of(const Header& header);
/// Returns the elements, none where the file has no such section.
Elements elements_of(const Header& header, std::uint32_t section);
std::uint64_t header_checksum(const Header& header);
/// Returns the checksum of the graph, which all its parts have. Expects their headers in order.
std::uint64_t graph_checksum(std::span<const Header> parts);
/// Returns the section that has a block, by the block's number among all blocks.
std::uint32_t section_of(const Header& header, std::uint64_t block);
/// Returns the number of the section's first block among all blocks; for kSections the number of all blocks.
std::uint64_t first_block(const Header& header, std::uint32_t section);
/// Returns where the file ends: after the checksums.
std::uint64_t file_bytes(const Header& header);

/// Returns the name of a part in the folder of its graph, such as "0002-of-0004".
std::string part_name(std::uint32_t number, std::uint32_t parts);
/// The number of a part; nothing for names that are not of parts.
struct PartNumber {
  std::uint32_t number, parts;
};
std::optional<PartNumber> part_of_name(std::string_view name);

}  // namespace edgewire::graph
