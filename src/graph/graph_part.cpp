#include "graph/graph_part.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "base/checksum.h"
#include "base/error.h"
#include "topology/cpu_level.h"

namespace edgewire::graph {

namespace {

/// Elements of `values` that lie in block `block` of their section, which begins with `lead` zeros.
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

GraphPart::GraphPart(const std::string& path, const std::string& name, Kind kind) : file_(path, name) {
  check_header(kind);
  extent_ = extent_of(header_);
}

void GraphPart::check_header(Kind kind) {
  const std::uint64_t bytes = file_.bytes();
  if (bytes == 0) throw Error(fmt::format("{}: the file is empty", file_.path()));
  if (bytes < sizeof header_) {
    file_.fail(bytes, "the file ends within its header; not an Edgewire graph, or cut short");
  }
  std::memcpy(&header_, file_.data(), sizeof header_);
  if (header_.magic != kMagic) file_.fail(0, "not an Edgewire graph (see `edgewire convert`)");
  if (header_.version != kVersion && header_.version != kPartVersion) {
    file_.fail(offsetof(Header, version), fmt::format("format version {}, but this program reads version {}",
                                                      header_.version, kVersion));
  }
  if (header_checksum(header_) != header_.checksum)
    file_.fail(0, "the header is damaged (its checksum differs)");
  if (is_part(header_) && kind == Kind::whole) {
    const auto folder = std::filesystem::path(file_.path()).parent_path().string();
    throw Error(fmt::format("{}: it is part {} of a graph in {}: name its folder, {}", file_.path(),
                            header_.part.number, header_.part.parts, folder.empty() ? "." : folder));
  }
  if (!is_part(header_) && kind == Kind::part)
    throw Error(fmt::format("{}: it is a whole graph, and no part of one as its name says", file_.path()));
  if ((header_.flags & kWideIds) != kIdFlag)
    throw Error(fmt::format("{}: its vertex ids have {} bits, and this program's have {}: use {}",
                            file_.path(), kIds64 ? 32 : 64, kIds64 ? 64 : 32,
                            kIds64 ? "edgewire" : "edgewire-wide, which is built with -Did_bits=64"));
  constexpr std::uint32_t kOfWeights = kWideWeights | kWholeWeights | kDoubtfulWeights | kFloatWeights;
  const bool tells_of_weights = (header_.flags & kOfWeights) != 0;
  if (header_.vertices > kMaxVertices || header_.edges > kMaxEdges || (header_.flags & ~kAllFlags) != 0 ||
      (tells_of_weights && (header_.flags & kWeighted) == 0)) {
    file_.fail(offsetof(Header, flags), "flags, vertices or edges are out of range");
  }
  if (is_part(header_)) check_part();
  const Header expected = is_part(header_)
                              ? lay_out_part(header_.vertices, header_.edges, header_.flags, header_.part)
                              : lay_out(header_.vertices, header_.edges, header_.flags);
  if (header_.sections != expected.sections || header_.checksums != expected.checksums) {
    file_.fail(offsetof(Header, sections), "the sections are not where they should be");
  }
  if (bytes != graph::file_bytes(header_)) {
    file_.fail(
        std::min(bytes, graph::file_bytes(header_)),
        fmt::format("the file has {} bytes but its header says {}", bytes, graph::file_bytes(header_)));
  }
  if (checksum(file_.data() + header_.checksums.offset, header_.checksums.bytes) !=
      header_.checksums_checksum) {
    file_.fail(header_.checksums.offset, "the table of checksums is damaged");
  }
  checked_ = std::vector<std::atomic<bool>>(header_.checksums.bytes / 8);
}

/// What the header says of the part.
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

Weights GraphPart::weights() const {
  const WeightType type = weight_type(header_.flags);
  return {type, data(kWeights), header_.sections[kWeights].bytes / bytes_of(type)};
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
  if (checksum(file_.data() + start, length) != stored) {
    file_.fail(start, "the block of the file from here is damaged (its checksum differs)");
  }
  check_content(section, block);
  if (is_part(header_)) file_.release(start, start + length);  // readers have them at other addresses
  mark.store(true, std::memory_order_release);
}

/// A right checksum says that nothing was damaged, not that a sane program wrote it.
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
                 fmt::format("target {} in a graph of {} vertices", largest, header_.vertices));
  } else if (section == kWeights) {
    weights().visit([&](const auto all) {
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
