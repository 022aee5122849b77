#include "shuffle/graph_sections.h"

#include <algorithm>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "base/output_file.h"

namespace edgewire::shuffle {

using graph::kBlockBytes;

void GraphSections::complete_checksums() {
  std::vector<std::byte> bytes(kBlockBytes);
  for (std::uint64_t block = 0; block < known.size(); ++block) {
    if (known[block] != 0) continue;
    const std::uint32_t section = graph::section_of(header, block);
    const std::uint64_t start = (block - graph::first_block(header, section)) * kBlockBytes;
    const graph::SectionEntry pages = graph::pages_of(header.sections[section]);
    const std::uint64_t size = std::min(kBlockBytes, pages.bytes - start);  // padding included
    read_at(descriptor, path, bytes.data(), size, pages.offset + start);
    checksums[block] = checksum(bytes.data(), size);
    known[block] = 1;
  }
}

std::uint64_t GraphSections::byte_of(std::uint32_t section, std::uint64_t element) const {
  const graph::Elements held = graph::elements_of(header, section);
  return graph::lead_of(header.sections[section]) + (element - held.first) * held.bytes;
}

SectionWriter::SectionWriter(GraphSections& sections, std::uint32_t section, std::uint64_t first)
    : sections_(sections),
      section_(section),
      number_(sections.byte_of(section, first) / kBlockBytes),
      begin_(sections.byte_of(section, first) % kBlockBytes),
      filled_(begin_),
      block_(kBlockBytes) {}

void SectionWriter::write_block() {
  if (sections_.health->failed()) throw Error(sections_.health->message());
  const graph::SectionEntry& entry = sections_.header.sections[section_];
  const std::uint64_t start = number_ * kBlockBytes;
  const bool last = start + filled_ == graph::lead_of(entry) + entry.bytes;
  if (last) {
    std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), std::byte{0});
    filled_ = padded(filled_);
  }
  write_at(sections_.descriptor, sections_.path, &block_[begin_], filled_ - begin_,
           graph::pages_of(entry).offset + start + begin_);
  if (begin_ == 0 && (last || filled_ == kBlockBytes)) {
    const std::uint64_t block = graph::first_block(sections_.header, section_) + number_;
    sections_.checksums[block] = checksum(block_.data(), filled_);
    sections_.known[block] = 1;
  }
  ++number_;
  begin_ = filled_ = 0;
}

}  // namespace edgewire::shuffle
