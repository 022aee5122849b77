#include "graph/graph_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "error.h"
#include "graph/checksum.h"
#include "graph/format.h"
#include "graph/mapped_file.h"
#include "topology/cpu_level.h"

namespace edgewire::graph {

struct GraphFile::Mapping {
  MappedFile file;
  const std::uint8_t* data;
  Header header{};
  std::string table;
  // For each block; check_block's release pairs with its acquire.
  mutable std::vector<std::atomic<bool>> checked;

  Mapping(const std::string& path, const std::string& name) : file(path, name), data(file.data()) {}

  template <class T>
  std::span<const T> section(std::uint32_t section) const {
    const SectionEntry& entry = header.sections[section];
    return {reinterpret_cast<const T*>(data + entry.offset), entry.bytes / sizeof(T)};
  }

  Weights weights() const {
    const SectionEntry& entry = header.sections[kWeights];
    const WeightType type = weight_type(header.flags);
    return {type, data + entry.offset, entry.bytes / bytes_of(type)};
  }

  void check_header();
  void check_block(std::uint32_t section, std::uint64_t block) const;
  void check_offsets(std::uint64_t first, std::uint64_t last) const;
  /// Checks the blocks that hold elements [first, last) of a section.
  void check_range(std::uint32_t section, std::uint64_t element_bytes, std::uint64_t first,
                   std::uint64_t last) const;
};

void GraphFile::Mapping::check_header() {
  const std::uint64_t bytes = file.bytes();
  if (bytes == 0) throw Error(fmt::format("{}: the file is empty", file.path()));
  if (bytes < sizeof header) {
    file.fail(bytes, "the file ends within its header; not an Edgewire graph, or cut short");
  }
  std::memcpy(&header, data, sizeof header);
  if (header.magic != kMagic) file.fail(0, "not an Edgewire graph (see `edgewire convert`)");
  if (header.version != kVersion) {
    file.fail(offsetof(Header, version),
              fmt::format("format version {}, but this program reads version {}", header.version, kVersion));
  }
  if (header_checksum(header) != header.checksum)
    file.fail(0, "the header is damaged (its checksum differs)");
  if ((header.flags & kWideIds) != kIdFlag)
    throw Error(fmt::format("{}: its vertex ids have {} bits, and this program's have {}: use {}",
                            file.path(), kIds64 ? 32 : 64, kIds64 ? 64 : 32,
                            kIds64 ? "edgewire" : "edgewire-wide, which is built with -Did_bits=64"));
  constexpr std::uint32_t kOfWeights = kWideWeights | kWholeWeights | kDoubtfulWeights | kFloatWeights;
  const bool tells_of_weights = (header.flags & kOfWeights) != 0;
  if (header.vertices > kMaxVertices || header.edges > kMaxEdges || (header.flags & ~kAllFlags) != 0 ||
      (tells_of_weights && (header.flags & kWeighted) == 0)) {
    file.fail(offsetof(Header, flags), "flags, vertices or edges are out of range");
  }
  const Header expected = lay_out(header.vertices, header.edges, header.flags);
  if (header.sections != expected.sections || header.checksums != expected.checksums) {
    file.fail(offsetof(Header, sections), "the sections are not where they should be");
  }
  if (bytes != graph::file_bytes(header)) {
    file.fail(std::min(bytes, graph::file_bytes(header)),
              fmt::format("the file has {} bytes but its header says {}", bytes, graph::file_bytes(header)));
  }
  if (graph::checksum(data + header.checksums.offset, header.checksums.bytes) != header.checksums_checksum) {
    file.fail(header.checksums.offset, "the table of checksums is damaged");
  }
  checked = std::vector<std::atomic<bool>>(header.checksums.bytes / 8);
}

namespace {

/// Elements of `values` that lie in block `block` of its section.
template <class T>
std::span<const T> in_block(std::span<const T> values, std::uint64_t block) {
  const std::uint64_t first = std::min<std::uint64_t>(block * kBlockBytes / sizeof(T), values.size());
  return values.subspan(first, std::min<std::uint64_t>(kBlockBytes / sizeof(T), values.size() - first));
}

PlainId largest_of(std::span<const PlainId> values) {
  return topology::run_for_cpu([&] {
    PlainId largest = 0;
    for (const auto value : values) largest = std::max(largest, value);
    return largest;
  });
}

}  // namespace

void GraphFile::Mapping::check_block(std::uint32_t section_index, std::uint64_t block) const {
  const SectionEntry& entry = header.sections[section_index];
  const std::uint64_t number = first_block(header, section_index) + block;
  std::atomic<bool>& mark = checked[number];
  if (mark.load(std::memory_order_acquire)) return;
  const std::uint64_t start = entry.offset + block * kBlockBytes;
  const std::uint64_t length = std::min(kBlockBytes, padded(entry.bytes) - block * kBlockBytes);
  std::uint64_t stored = 0;
  std::memcpy(&stored, data + header.checksums.offset + number * 8, 8);
  if (graph::checksum(data + start, length) != stored) {
    file.fail(start, "the block of the file from here is damaged (its checksum differs)");
  }
  // A right checksum says that nothing was damaged, not that a sane program wrote it.
  if (section_index == kOffsets) {
    const auto values = in_block(section<std::uint64_t>(kOffsets), block);
    const auto wrong = std::is_sorted_until(values.begin(), values.end());
    if (wrong != values.end() || values.back() > header.edges) {
      file.fail(start + static_cast<std::uint64_t>(wrong - values.begin()) * 8,
                "row offsets are not in order");
    }
    if (block == 0 && values.front() != 0) file.fail(start, "the first row offset is not 0");
    if ((block + 1) * kBlockBytes >= entry.bytes && values.back() != header.edges) {
      file.fail(entry.offset + entry.bytes - 8, "the last row offset is not the number of edges");
    }
  } else if (section_index == kTargets) {
    const auto values = in_block(section<VertexId>(kTargets), block);
    const PlainId largest = largest_of(plain(values));
    if (!values.empty() && largest >= header.vertices) {
      const auto at = std::max_element(values.begin(), values.end()) - values.begin();
      file.fail(start + static_cast<std::uint64_t>(at) * sizeof(VertexId),
                fmt::format("target {} in a graph of {} vertices", largest, header.vertices));
    }
  } else if (section_index == kWeights) {
    weights().visit([&](const auto all) {
      const auto values = in_block(all, block);
      const auto wrong = std::find_if(values.begin(), values.end(),
                                      [](auto w) { return !std::isfinite(static_cast<double>(w)); });
      if (wrong != values.end()) {
        file.fail(start + static_cast<std::uint64_t>(wrong - values.begin()) * sizeof(values[0]),
                  "a weight is not finite");
      }
    });
  }
  mark.store(true, std::memory_order_release);
}

void GraphFile::Mapping::check_range(std::uint32_t section_index, std::uint64_t element_bytes,
                                     std::uint64_t first, std::uint64_t last) const {
  if (first == last || header.sections[section_index].bytes == 0) return;
  const std::uint64_t end = (last * element_bytes - 1) / kBlockBytes;
  for (std::uint64_t block = first * element_bytes / kBlockBytes; block <= end; ++block) {
    check_block(section_index, block);
  }
}

void GraphFile::Mapping::check_offsets(std::uint64_t first, std::uint64_t last) const {
  check_range(kOffsets, 8, first, last + 1);
  const auto offsets = section<std::uint64_t>(kOffsets);
  constexpr std::uint64_t kPerBlock = kBlockBytes / 8;
  for (std::uint64_t at = (first / kPerBlock + 1) * kPerBlock; at <= last; at += kPerBlock) {
    if (offsets[at - 1] > offsets[at])
      file.fail(header.sections[kOffsets].offset + at * 8, "row offsets are not in order");
  }
}

GraphFile GraphFile::open(const std::string& path, const std::string& name) {
  auto mapping = std::make_unique<Mapping>(path, name);
  mapping->check_header();
  return GraphFile(std::move(mapping));
}

GraphFile::GraphFile(std::unique_ptr<Mapping> mapping)
    : mapping_(std::move(mapping)),
      offsets_(mapping_->section<std::uint64_t>(kOffsets)),
      targets_(mapping_->section<VertexId>(kTargets)),
      weights_(mapping_->weights()) {}
GraphFile::GraphFile(GraphFile&&) noexcept = default;
GraphFile& GraphFile::operator=(GraphFile&&) noexcept = default;
GraphFile::~GraphFile() = default;

const std::string& GraphFile::table() const { return mapping_->table; }
void GraphFile::set_table(const std::string& path) { mapping_->table = path; }
const std::string& GraphFile::path() const { return mapping_->file.path(); }
std::uint64_t GraphFile::file_bytes() const { return mapping_->file.bytes(); }
std::uint64_t GraphFile::vertices() const { return mapping_->header.vertices; }
std::uint64_t GraphFile::edges() const { return mapping_->header.edges; }
bool GraphFile::weighted() const { return (mapping_->header.flags & kWeighted) != 0; }
bool GraphFile::float_weights() const {
  return weighted() && (weights_.type() == WeightType::f32 || (mapping_->header.flags & kFloatWeights) != 0);
}
bool GraphFile::weights_doubtful() const { return (mapping_->header.flags & kDoubtfulWeights) != 0; }
bool GraphFile::simple() const { return (mapping_->header.flags & kSimple) != 0; }
bool GraphFile::symmetric() const { return (mapping_->header.flags & kSymmetric) != 0; }
std::uint64_t GraphFile::checksum() const { return mapping_->header.checksum; }
bool GraphFile::labelled() const { return (mapping_->header.flags & kLabels) != 0; }
bool GraphFile::has_original_ids() const { return (mapping_->header.flags & kOriginalIds) != 0; }

std::uint64_t GraphFile::original_id(VertexId v) const {
  if (!has_original_ids()) return v;
  mapping_->check_block(kIds, std::uint64_t{v} * 8 / kBlockBytes);
  return mapping_->section<std::uint64_t>(kIds)[v];
}

void GraphFile::verify_offsets(std::uint64_t first, std::uint64_t last) const {
  if (first > last || last > vertices()) {
    throw Error(
        fmt::format("{}: there are no rows {} to {}: it has {} vertices", path(), first, last, vertices()));
  }
  mapping_->check_offsets(first, last);
}

void GraphFile::verify_rows(std::uint64_t first, std::uint64_t last) const {
  verify_offsets(first, last);
  const Mapping& mapping = *mapping_;
  const std::uint64_t first_edge = offsets()[first];
  const std::uint64_t last_edge = offsets()[last];
  mapping.check_range(kTargets, sizeof(VertexId), first_edge, last_edge);
  mapping.check_range(kWeights, bytes_of(weights_.type()), first_edge, last_edge);
  mapping.check_range(kIds, 8, first, last);
}

void GraphFile::release_rows(std::uint64_t first, std::uint64_t last) const noexcept {
  if (first >= last || last > vertices()) return;
  const std::uint64_t first_edge = std::min(offsets()[first], edges());
  const std::uint64_t last_edge = std::min(offsets()[last], edges());
  const auto release = [&](std::uint32_t section, std::uint64_t begin, std::uint64_t end) {
    const SectionEntry& entry = mapping_->header.sections[section];
    if (entry.bytes > 0) mapping_->file.release(entry.offset + begin, entry.offset + end);
  };
  release(kTargets, first_edge * sizeof(VertexId), last_edge * sizeof(VertexId));
  release(kWeights, first_edge * bytes_of(weights_.type()), last_edge * bytes_of(weights_.type()));
  release(kIds, first * 8, last * 8);
  release(kOffsets, first * 8, last * 8);
}

void expect_weights(const GraphFile& graph, std::string_view otherwise) {
  if (!graph.weighted())
    throw Error(fmt::format("{}: the graph has no weights: convert it from a file with weights{}{}",
                            graph.path(), otherwise.empty() ? "" : ", or ", otherwise));
  if (!graph.weights_doubtful()) return;
  throw Error(fmt::format(
      "{}: its weights were a third column that looks like a time, not like a weight; `edgewire "
      "convert` takes it as a weight with --columns 1,2,3 (of several files: with --format wel), and "
      "leaves it out with --no-weights",
      graph.path()));
}

std::optional<int> id_bits_of(const std::string& path) {
  if (std::error_code none; !std::filesystem::is_regular_file(path, none)) return {};
  Header header{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || header.magic != kMagic || header.version != kVersion ||
      header_checksum(header) != header.checksum)
    return {};
  return (header.flags & kWideIds) != 0 ? 64 : 32;
}

bool is_ours(const std::string& path) {
  if (path.ends_with(".ew") || !std::filesystem::is_regular_file(path)) return true;
  std::array<char, kMagic.size()> start{};
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), start.size());
  return start == kMagic;
}

}  // namespace edgewire::graph
