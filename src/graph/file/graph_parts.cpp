#include "graph/file/graph_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <sys/mman.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "base/rooms.h"
#include "edgewire/detail/cpu_level.h"

namespace edgewire::graph {

namespace {

/// Throws Error unless both are parts of one graph. `a` comes before `b`.
void check_fit(const GraphPart& a, const GraphPart& b) {
  const Header &one = a.header(), &other = b.header();
  if (one.vertices != other.vertices || one.edges != other.edges || one.flags != other.flags ||
      one.part.parts != other.part.parts || one.part.graph_checksum != other.part.graph_checksum)
    throw Error(fmt::format("{}: it is a part of another graph than {}", b.file().path(), a.file().path()));
  const Extent &before = a.extent(), &after = b.extent();
  const bool next = other.part.number == one.part.number + 1;
  if (next ? before.last_row != after.first_row || before.last_edge != after.first_edge
           : before.last_row > after.first_row || before.last_edge > after.first_edge)
    throw Error(fmt::format("{}: its rows do not follow those of {}", b.file().path(), a.file().path()));
}

/// Returns the `values` that lie in block `block` of their section, which begins with `lead` zeros.
template <class T>
std::span<const T> in_block(std::span<const T> values, std::uint64_t lead, std::uint64_t block) {
  const auto number = [&](std::uint64_t byte) {
    return std::min<std::uint64_t>((std::max(byte, lead) - lead) / sizeof(T), values.size());
  };
  const std::uint64_t first = number(block * kBlockBytes);
  return values.subspan(first, number((block + 1) * kBlockBytes) - first);
}

PlainId largest_of(std::span<const PlainId> values) {
  return topology::run_for_cpu([&] {
    PlainId largest = 0;
    for (const auto value : values) largest = std::max(largest, value);
    return largest;
  });
}

}  // namespace

std::vector<std::string> part_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : entries_of(folder, error))
    if (const std::string name = entry.path().filename(); part_of_name(name)) names.push_back(name);
  if (error) throw Error(fmt::format("{}: cannot read: {}", folder, reason(error.value())));
  std::ranges::sort(names, {}, [](const std::string& name) { return part_of_name(name)->number; });
  return names;
}

std::vector<std::unique_ptr<GraphPart>> open_parts(const std::string& folder) {
  const auto names = part_names(folder);
  if (names.empty())
    throw Error(fmt::format("{}: it is a folder without a graph: there are no parts such as {}", folder,
                            part_name(0, 4)));
  const std::uint32_t count = part_of_name(names[0])->parts;
  for (const std::string& name : names)
    if (part_of_name(name)->parts != count)
      throw Error(fmt::format("{}: it holds parts of two conversions, such as {} and {}: remove those of one",
                              folder, names[0], name));
  std::vector<std::unique_ptr<GraphPart>> parts;
  for (const std::string& name : names) {
    parts.push_back(
        std::make_unique<GraphPart>(fmt::format("{}/{}", folder, name), "", GraphPart::Kind::part));
    const PartEntry& part = parts.back()->header().part;
    if (part.number != part_of_name(name)->number || part.parts != count)
      throw Error(fmt::format("{}: it is part {} under another name", parts.back()->file().path(),
                              part_name(part.number, part.parts)));
    if (parts.size() > 1) check_fit(*parts[parts.size() - 2], *parts.back());
  }
  return parts;
}

SectionSpace::SectionSpace(std::uint64_t bytes, const std::string& name) : name_(name), bytes_(bytes) {
  void* const found =
      mmap(nullptr, padded(bytes_ + 1), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (found == MAP_FAILED) throw Error(fmt::format("{}: cannot map its parts: {}", name_, reason(errno)));
  data_ = static_cast<std::uint8_t*>(found);
}

SectionSpace::~SectionSpace() { munmap(data_, padded(bytes_ + 1)); }

/// Copies bytes [begin, end) of the section, which are at `from`, to pages of memory.
void SectionSpace::copy(const std::uint8_t* from, std::uint64_t begin, std::uint64_t end) {
  if (begin == end) return;
  const std::uint64_t first = begin / kPageBytes * kPageBytes;
  if (mprotect(data_ + first, padded(end) - first, PROT_READ | PROT_WRITE) != 0)
    throw Error(fmt::format("{}: cannot map its parts: {}", name_, reason(errno)));
  std::memcpy(data_ + begin, from, end - begin);
  mprotect(data_ + first, padded(end) - first, PROT_READ);
}

SectionSpace::Addresses SectionSpace::add(GraphPart& part, std::uint32_t section) {
  const SectionEntry& entry = part.header().sections[section];
  const Elements held = elements_of(part.header(), section);
  const std::uint64_t first = held.first * held.bytes, end = first + entry.bytes;
  const std::uint64_t begin = std::max(first, covered_);  // neighbours share an offset
  if (begin >= end) return {data_, data_};
  covered_ = end;
  const std::uint64_t mapped = padded(begin);
  const std::uint64_t mapped_end = end == bytes_ ? padded(end) : end / kPageBytes * kPageBytes;
  const auto copy_bytes = [&](std::uint64_t from, std::uint64_t to) {
    copy(part.data(section) + (from - first), from, to);
  };
  if (mapped >= mapped_end) {
    copy_bytes(begin, end);
    return {data_, data_};
  }
  copy_bytes(begin, mapped);
  part.file().map_at(data_ + mapped, entry.offset + mapped - first, mapped_end - mapped);
  copy_bytes(std::min(mapped_end, end), end);
  return {data_ + mapped, data_ + mapped_end};
}

GraphPart::GraphPart(const std::string& path, const std::string& name, Kind kind) : file_(path, name) {
  check_header(kind);
  extent_ = extent_of(header_);
}

void GraphPart::check_header(Kind kind) {
  const std::uint64_t bytes = file_.bytes();
  if (bytes == 0) throw Error(fmt::format("{}: the file is empty", file_.path()));
  if (bytes < sizeof header_)
    file_.fail(bytes,
               "the file ends within its header; it is not an Edgewire graph (see `edgewire convert`), or is "
               "cut short");
  std::memcpy(&header_, file_.data(), sizeof header_);
  if (header_.magic != kMagic) file_.fail(0, "it is not an Edgewire graph (see `edgewire convert`)");
  if (header_.version != kVersion && header_.version != kPartVersion)
    file_.fail(offsetof(Header, version),
               fmt::format("the file has format version {}, but this program reads version {}",
                           header_.version, kVersion));
  if (header_checksum(header_) != header_.checksum)
    file_.fail(0, "the header is damaged (its checksum differs)");
  if (is_part(header_) && kind == Kind::whole) {
    const auto folder = std::filesystem::path(file_.path()).parent_path().string();
    throw Error(fmt::format("{}: it is part {} of a graph in {}: name its folder, {}", file_.path(),
                            header_.part.number, header_.part.parts, folder.empty() ? "." : folder));
  }
  if (!is_part(header_) && kind == Kind::part)
    throw Error(fmt::format("{}: it is a whole graph, not a part of one as its name says", file_.path()));
  if ((header_.flags & kWideIds) != kIdFlag)
    throw Error(fmt::format("{}: its vertex ids have {} bits, and this program's have {}: use {}",
                            file_.path(), kIds64 ? 32 : 64, kIds64 ? 64 : 32,
                            kIds64 ? "edgewire" : "edgewire-wide, which is built with -Did_bits=64"));
  constexpr std::uint32_t kOfWeights = kWideWeights | kWholeWeights | kDoubtfulWeights | kFloatWeights;
  const bool tells_of_weights = (header_.flags & kOfWeights) != 0;
  if (header_.vertices > kMaxVertices || header_.edges > kMaxEdges || (header_.flags & ~kAllFlags) != 0 ||
      (tells_of_weights && (header_.flags & kWeighted) == 0))
    file_.fail(offsetof(Header, flags), "flags, vertices or edges are out of range");
  if (is_part(header_)) check_part();
  const Header expected = lay_out(header_.vertices, header_.edges, header_.flags,
                                  is_part(header_) ? std::optional(header_.part) : std::nullopt);
  if (header_.sections != expected.sections || header_.checksums != expected.checksums)
    file_.fail(offsetof(Header, sections), "the sections are not at their places");
  if (bytes != graph::file_bytes(header_))
    file_.fail(
        std::min(bytes, graph::file_bytes(header_)),
        fmt::format("the file has {} bytes but its header says {}", bytes, graph::file_bytes(header_)));
  if (checksum(file_.data() + header_.checksums.offset, header_.checksums.bytes) !=
      header_.checksums_checksum)
    file_.fail(header_.checksums.offset, "the table of checksums is damaged");
  checked_ = std::vector<std::atomic<bool>>(header_.checksums.bytes / 8);
}

void GraphPart::check_part() const {
  const PartEntry& part = header_.part;
  const Extent& held = part.extent;
  const bool first = part.number == 0, last = part.number + 1 == part.parts;
  const bool fits = part.parts <= kMaxParts && part.number < part.parts && part.holds_ids <= 1 &&
                    held.first_row <= held.last_row && held.last_row <= header_.vertices &&
                    held.first_edge <= held.last_edge && held.last_edge <= header_.edges &&
                    (!first || (held.first_row == 0 && held.first_edge == 0)) &&
                    (!last || (held.last_row == header_.vertices && held.last_edge == header_.edges));
  if (!fits) file_.fail(offsetof(Header, part), "its number, rows or edges are out of range");
}

void GraphPart::check_block(std::uint32_t section, std::uint64_t block) const {
  const SectionEntry pages = pages_of(header_.sections[section]);
  const std::uint64_t number = first_block(header_, section) + block;
  std::atomic<bool>& mark = checked_[number];
  if (mark.load(std::memory_order_acquire)) return;
  const std::uint64_t start = pages.offset + block * kBlockBytes;
  const std::uint64_t length = std::min(kBlockBytes, pages.bytes - block * kBlockBytes);
  std::uint64_t stored = 0;
  std::memcpy(&stored, file_.data() + header_.checksums.offset + number * 8, 8);
  if (checksum(file_.data() + start, length) != stored)
    file_.fail(start, "the block of the file from here is damaged (its checksum differs)");
  check_content(section, block);
  if (is_part(header_)) file_.release(start, start + length);  // readers use the pages at other addresses
  mark.store(true, std::memory_order_release);
}

/// Checks the content of a block: a right checksum does not say that a correct program wrote it.
void GraphPart::check_content(std::uint32_t section, std::uint64_t block) const {
  const SectionEntry& entry = header_.sections[section];
  const auto place = [&](const auto& value) {
    return static_cast<std::uint64_t>(reinterpret_cast<const std::uint8_t*>(&value) - file_.data());
  };
  if (section == kOffsets) {
    const auto all = this->values<std::uint64_t>(kOffsets), values = in_block(all, lead_of(entry), block);
    const auto wrong = std::is_sorted_until(values.begin(), values.end());
    if (wrong != values.end()) file_.fail(place(*wrong), "row offsets are not in order");
    if (values.front() < extent_.first_edge || values.back() > extent_.last_edge)
      file_.fail(place(values.front()), fmt::format("row offsets are not in order: they lie beyond {} to {}",
                                                    extent_.first_edge, extent_.last_edge));
    if (values.data() == all.data() && values.front() != extent_.first_edge)
      file_.fail(place(values.front()), fmt::format("the first row offset is not {}", extent_.first_edge));
    if (&values.back() == &all.back() && values.back() != extent_.last_edge)
      file_.fail(place(values.back()),
                 fmt::format("the last row offset is not the end of the edges, {}", extent_.last_edge));
  } else if (section == kTargets) {
    const auto values = in_block(this->values<VertexId>(kTargets), lead_of(entry), block);
    const PlainId largest = largest_of(plain(values));
    if (!values.empty() && largest >= header_.vertices)
      file_.fail(place(*std::ranges::max_element(values)),
                 fmt::format("target {} is beyond the graph's {} vertices", largest, header_.vertices));
  } else if (section == kWeights) {
    weights_at(data(kWeights), header_).visit([&](const auto all) {
      const auto values = in_block(all, lead_of(entry), block);
      const auto wrong = std::find_if(values.begin(), values.end(),
                                      [](auto w) { return !std::isfinite(static_cast<double>(w)); });
      if (wrong != values.end()) file_.fail(place(*wrong), "a weight is not finite");
    });
  }
}

void GraphPart::check(std::uint32_t section, std::uint64_t first, std::uint64_t last) const {
  const Elements held = elements_of(header_, section);
  const SectionEntry& entry = header_.sections[section];
  if (first == last || entry.bytes == 0) return;
  const std::uint64_t end = (lead_of(entry) + (last - held.first) * held.bytes - 1) / kBlockBytes;
  for (std::uint64_t block = (lead_of(entry) + (first - held.first) * held.bytes) / kBlockBytes; block <= end;
       ++block)
    check_block(section, block);
}

void GraphPart::check_offsets(std::uint64_t first, std::uint64_t last) const {
  check(kOffsets, first, last + 1);
  first -= extent_.first_row;
  last -= extent_.first_row;
  const auto offsets = values<std::uint64_t>(kOffsets);
  constexpr std::uint64_t kPerBlock = kBlockBytes / 8;
  const std::uint64_t lead = lead_of(header_.sections[kOffsets]) / 8;
  for (std::uint64_t at = ((first + lead) / kPerBlock + 1) * kPerBlock - lead; at <= last; at += kPerBlock)
    if (offsets[at - 1] > offsets[at])
      file_.fail(header_.sections[kOffsets].offset + at * 8, "row offsets are not in order");
}

void GraphPart::check_rows(std::uint64_t first, std::uint64_t last) const {
  check_offsets(first, last);
  const auto offsets = values<std::uint64_t>(kOffsets);
  const std::uint64_t first_edge = offsets[first - extent_.first_row];
  const std::uint64_t last_edge = offsets[last - extent_.first_row];
  check(kTargets, first_edge, last_edge);
  check(kWeights, first_edge, last_edge);
  check(kIds, first, last);
}

}  // namespace edgewire::graph
