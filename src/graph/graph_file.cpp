#include "graph/graph_file.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "graph/format.h"

namespace edgewire::graph {

struct GraphFile::Mapping {
  std::string path;
  const std::uint8_t* data = nullptr;
  std::uint64_t bytes = 0;
  Header header{};
  mutable std::vector<std::atomic<bool>>
      checked;  // for each block; check_block's release pairs with its acquire

  ~Mapping() {
    if (data != nullptr) munmap(const_cast<std::uint8_t*>(data), bytes);
  }

  template <class T>
  std::span<const T> section(std::uint32_t section) const {
    const SectionEntry& entry = header.sections[section];
    return {reinterpret_cast<const T*>(data + entry.offset), entry.bytes / sizeof(T)};
  }

  [[noreturn]] void fail(std::uint64_t offset, std::string_view what) const {
    throw Error(fmt::format("{}: byte {}: {}", path, offset, what));
  }

  void map();
  void check_header();
  void check_block(std::uint32_t section, std::uint64_t block) const;
  void check_offsets(std::uint64_t first, std::uint64_t last) const;
  /// Checks the blocks that hold elements [first, last) of a section.
  void check_range(std::uint32_t section, std::uint64_t element_bytes, std::uint64_t first,
                   std::uint64_t last) const;
  void release(std::uint32_t section, std::uint64_t first_byte, std::uint64_t last_byte) const noexcept;
};

void GraphFile::Mapping::map() {
  const auto refuse = [&](int cause) {
    throw Error(fmt::format("{}: cannot read: {}", path, std::generic_category().message(cause)));
  };
  // Nonblocking, so that a pipe without a writer does not hang; it is refused below.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) refuse(errno);
  struct stat status {};
  const bool known = fstat(descriptor, &status) == 0;
  const bool regular = known && S_ISREG(status.st_mode);
  if (regular && status.st_size >= static_cast<off_t>(kPageBytes)) {
    bytes = static_cast<std::uint64_t>(status.st_size);
    void* mapped = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    if (mapped != MAP_FAILED) data = static_cast<const std::uint8_t*>(mapped);
  }
  const int cause = errno;
  close(descriptor);
  if (data != nullptr) return;
  if (!known) refuse(cause);
  if (S_ISDIR(status.st_mode)) refuse(EISDIR);
  if (!regular) throw Error(fmt::format("{}: cannot read: it is not a regular file", path));
  if (status.st_size == 0) throw Error(fmt::format("{}: the file is empty", path));
  if (bytes == 0) {
    throw Error(
        fmt::format("{}: byte {}: the file ends within its header; not an Edgewire graph, or cut short", path,
                    status.st_size));
  }
  refuse(cause);
}

void GraphFile::Mapping::check_header() {
  std::memcpy(&header, data, sizeof header);
  if (header.magic != kMagic) fail(0, "not an Edgewire graph (see `edgewire convert`)");
  if (header.version != kVersion) {
    fail(offsetof(Header, version),
         fmt::format("format version {}, but this program reads version {}", header.version, kVersion));
  }
  if (header_checksum(header) != header.checksum) fail(0, "the header is damaged (its checksum differs)");
  if (header.vertices > kMaxVertices || header.edges > kMaxEdges || (header.flags & ~kAllFlags) != 0) {
    fail(offsetof(Header, flags), "flags, vertices or edges are out of range");
  }
  const Header expected = lay_out(header.vertices, header.edges, header.flags);
  if (header.sections != expected.sections || header.checksums != expected.checksums) {
    fail(offsetof(Header, sections), "the sections are not where they should be");
  }
  if (bytes != graph::file_bytes(header)) {
    fail(std::min(bytes, graph::file_bytes(header)),
         fmt::format("the file has {} bytes but its header says {}", bytes, graph::file_bytes(header)));
  }
  if (XXH3_64bits(data + header.checksums.offset, header.checksums.bytes) != header.checksums_checksum) {
    fail(header.checksums.offset, "the table of checksums is damaged");
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
  if (XXH3_64bits(data + start, length) != stored) {
    fail(start, "the block of the file from here is damaged (its checksum differs)");
  }
  // A right checksum says that nothing was damaged, not that a sane program wrote it.
  if (section_index == kOffsets) {
    const auto values = in_block(section<std::uint64_t>(kOffsets), block);
    const auto wrong = std::is_sorted_until(values.begin(), values.end());
    if (wrong != values.end() || values.back() > header.edges) {
      fail(start + static_cast<std::uint64_t>(wrong - values.begin()) * 8, "row offsets are not in order");
    }
    if (block == 0 && values.front() != 0) fail(start, "the first row offset is not 0");
    if ((block + 1) * kBlockBytes >= entry.bytes && values.back() != header.edges) {
      fail(entry.offset + entry.bytes - 8, "the last row offset is not the number of edges");
    }
  } else if (section_index == kTargets) {
    const auto values = in_block(section<std::uint32_t>(kTargets), block);
    std::uint32_t largest = 0;
    for (const std::uint32_t target : values) largest = std::max(largest, target);
    if (!values.empty() && largest >= header.vertices) {
      const auto at = std::max_element(values.begin(), values.end()) - values.begin();
      fail(start + static_cast<std::uint64_t>(at) * 4,
           fmt::format("target {} in a graph of {} vertices", largest, header.vertices));
    }
  } else if (section_index == kWeights) {
    const auto values = in_block(section<float>(kWeights), block);
    const auto wrong = std::find_if(values.begin(), values.end(), [](float w) { return !std::isfinite(w); });
    if (wrong != values.end()) {
      fail(start + static_cast<std::uint64_t>(wrong - values.begin()) * 4, "a weight is not finite");
    }
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
      fail(header.sections[kOffsets].offset + at * 8, "row offsets are not in order");
  }
}

void GraphFile::Mapping::release(std::uint32_t section_index, std::uint64_t first_byte,
                                 std::uint64_t last_byte) const noexcept {
  const std::uint64_t base = header.sections[section_index].offset;
  const std::uint64_t begin = padded(base + first_byte);
  const std::uint64_t end = (base + last_byte) / kPageBytes * kPageBytes;
  if (begin < end) madvise(const_cast<std::uint8_t*>(data) + begin, end - begin, MADV_DONTNEED);
}

GraphFile GraphFile::open(const std::string& path) {
  auto mapping = std::make_unique<Mapping>();
  mapping->path = path;
  mapping->map();
  mapping->check_header();
  return GraphFile(std::move(mapping));
}

GraphFile::GraphFile(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
GraphFile::GraphFile(GraphFile&&) noexcept = default;
GraphFile& GraphFile::operator=(GraphFile&&) noexcept = default;
GraphFile::~GraphFile() = default;

const std::string& GraphFile::path() const { return mapping_->path; }
std::uint64_t GraphFile::file_bytes() const { return mapping_->bytes; }
std::uint64_t GraphFile::vertices() const { return mapping_->header.vertices; }
std::uint64_t GraphFile::edges() const { return mapping_->header.edges; }
bool GraphFile::weighted() const { return (mapping_->header.flags & kWeighted) != 0; }
bool GraphFile::simple() const { return (mapping_->header.flags & kSimple) != 0; }
bool GraphFile::symmetric() const { return (mapping_->header.flags & kSymmetric) != 0; }
bool GraphFile::has_original_ids() const { return (mapping_->header.flags & kOriginalIds) != 0; }

std::span<const std::uint64_t> GraphFile::offsets() const {
  return mapping_->section<std::uint64_t>(kOffsets);
}
std::span<const std::uint32_t> GraphFile::targets() const {
  return mapping_->section<std::uint32_t>(kTargets);
}
std::span<const float> GraphFile::weights() const { return mapping_->section<float>(kWeights); }

std::uint64_t GraphFile::original_id(std::uint32_t v) const {
  if (!has_original_ids()) return v;
  mapping_->check_block(kIds, std::uint64_t{v} * 8 / kBlockBytes);
  return mapping_->section<std::uint64_t>(kIds)[v];
}

void GraphFile::verify_rows(std::uint64_t first, std::uint64_t last) const {
  const Mapping& mapping = *mapping_;
  if (first > last || last > vertices()) {
    throw Error(
        fmt::format("{}: there are no rows {} to {}: it has {} vertices", path(), first, last, vertices()));
  }
  mapping.check_offsets(first, last);
  const std::uint64_t first_edge = offsets()[first];
  const std::uint64_t last_edge = offsets()[last];
  mapping.check_range(kTargets, 4, first_edge, last_edge);
  mapping.check_range(kWeights, 4, first_edge, last_edge);
  mapping.check_range(kIds, 8, first, last);
}

void GraphFile::release_rows(std::uint64_t first, std::uint64_t last) const noexcept {
  if (first >= last || last > vertices()) return;
  const std::uint64_t first_edge = std::min(offsets()[first], edges());
  const std::uint64_t last_edge = std::min(offsets()[last], edges());
  mapping_->release(kTargets, first_edge * 4, last_edge * 4);
  if (weighted()) mapping_->release(kWeights, first_edge * 4, last_edge * 4);
  if (has_original_ids()) mapping_->release(kIds, first * 8, last * 8);
  mapping_->release(kOffsets, first * 8, last * 8);
}

}  // namespace edgewire::graph
