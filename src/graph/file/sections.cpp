#include "graph/file/sections.h"

#include <algorithm>
#include <vector>

#include "base/checksum.h"

namespace edgewire::graph {

void write_sections(OutputFile& output, Header& header, int workers, const FillSection& fill,
                    const char* step, const Progress& progress) {
  output.reserve(file_bytes(header));
  std::vector<std::uint64_t> checksums(header.checksums.bytes / 8);
  std::vector<std::vector<std::byte>> blocks(static_cast<std::size_t>(workers));
  parallel_for(workers, checksums.size(), step, progress, [&](int worker, std::uint64_t number) {
    const std::uint32_t section = section_of(header, number);
    const SectionEntry& entry = header.sections[section];
    const std::uint64_t start = (number - first_block(header, section)) * kBlockBytes;
    const std::uint64_t bytes = std::min(kBlockBytes, entry.bytes - start);
    const std::uint64_t size = elements_of(header, section).bytes;
    std::vector<std::byte>& block = blocks[static_cast<std::size_t>(worker)];
    block.resize(padded(bytes));
    std::ranges::fill(std::span(block).subspan(bytes), std::byte{0});
    fill(section, start / size, bytes / size, block.data());
    checksums[number] = checksum(block.data(), block.size());
    output.write(block.data(), block.size(), entry.offset + start);
  });
  write_checksums(output, header, checksums);
  write_header(output, header);
}

void write_checksums(OutputFile& output, Header& header, std::span<const std::uint64_t> checksums) {
  output.write(checksums.data(), header.checksums.bytes, header.checksums.offset);
  header.checksums_checksum = checksum(checksums.data(), header.checksums.bytes);
}

void write_header(OutputFile& output, Header& header) {
  header.checksum = header_checksum(header);
  output.write(&header, sizeof header, 0);
}

}  // namespace edgewire::graph
