#include "base/array_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/checksum.h"
#include "base/error.h"
#include "base/output_file.h"

namespace edgewire {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are kept as they are");

constexpr std::uint64_t kBlockBytes = 1 << 20;
constexpr std::uint64_t kAlignment = 64;

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }
constexpr std::uint64_t blocks_of(std::uint64_t bytes) { return (bytes + kBlockBytes - 1) / kBlockBytes; }

template <class Value>
void assign(std::vector<Value>& copied, const std::uint8_t* data, std::uint64_t count) {
  copied.resize(count);
  if (count > 0) std::memcpy(copied.data(), data, count * sizeof(Value));
}
template <class Values>
void append(std::vector<std::uint8_t>& bytes, const Values& values) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(std::data(values));
  bytes.insert(bytes.end(), data, data + std::size(values) * sizeof(*std::data(values)));
}

/// Returns the first line that differs.
std::string difference(const std::string& before, const std::string& now) {
  std::istringstream old_lines(before), new_lines(now);
  std::string old_line, new_line;
  do {
    if (!std::getline(old_lines, old_line)) old_line = "nothing";
    if (!std::getline(new_lines, new_line)) new_line = "nothing";
  } while (old_line == new_line && old_lines && new_lines);
  return fmt::format("made with {}, now {}", old_line, new_line);
}

}  // namespace

std::uint64_t ArrayFileHeader::checksum_with(std::span<const std::uint8_t> rest) const {
  ArrayFileHeader header = *this;
  header.checksum = edgewire::checksum(rest.data(), rest.size());
  return edgewire::checksum(&header, sizeof header);
}

void ArrayFileWriter::add(std::vector<std::span<const std::byte>> parts) {
  Section section;
  for (const auto& part : parts) {
    section.starts.push_back(section.bytes);
    section.bytes += part.size();
  }
  section.parts = std::move(parts);
  sections_.push_back(std::move(section));
}

void ArrayFileWriter::Section::copy(std::uint64_t begin, std::span<std::byte> out) const {
  auto part =
      static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), begin) - starts.begin()) - 1;
  for (begin -= starts[part]; !out.empty(); begin = 0, ++part) {
    const auto more = parts[part].subspan(begin).first(std::min(parts[part].size() - begin, out.size()));
    std::copy(more.begin(), more.end(), out.begin());
    out = out.subspan(more.size());
  }
}

void ArrayFileWriter::write(const std::string& path, const std::string& key, std::uint64_t generation,
                            const ForEach& for_each) const {
  refuse_changed_files();  // the arrays were made from these files
  struct Block {
    const Section* section;
    std::uint64_t begin;  ///< the first byte's offset in the section
    std::uint64_t offset;
  };
  std::uint64_t blocks = 0;
  for (const Section& section : sections_) blocks += blocks_of(section.bytes);
  ArrayFileHeader header;
  header.sections = static_cast<std::uint32_t>(sections_.size());
  header.key_bytes = key.size();
  header.front_bytes = sizeof header + round_up(key.size(), 8) + sections_.size() * sizeof(ArrayFileSection) +
                       blocks * sizeof(std::uint64_t);
  header.generation = generation;
  std::vector<ArrayFileSection> table;
  std::vector<Block> work;
  std::uint64_t end = header.front_bytes;
  for (const Section& section : sections_) {
    if (section.bytes == 0) {  // an empty section takes no place, so the file ends with what is written last
      table.push_back({0, 0});
      continue;
    }
    const std::uint64_t offset = round_up(end, kAlignment);
    table.push_back({offset, section.bytes});
    for (std::uint64_t begin = 0; begin < section.bytes; begin += kBlockBytes)
      work.push_back({&section, begin, offset + begin});
    end = offset + section.bytes;
  }
  header.file_bytes = end;
  OutputFile file(path, 0644);  // the reader trusts it, whatever the umask
  file.reserve(end);
  std::vector<std::uint64_t> checksums(blocks);
  for_each(blocks, [&](int, std::uint64_t b) {
    const auto& [section, begin, offset] = work[b];
    std::vector<std::byte> bytes(std::min(kBlockBytes, section->bytes - begin));
    section->copy(begin, bytes);
    checksums[b] = checksum(bytes.data(), bytes.size());
    file.write(bytes.data(), bytes.size(), offset);
  });
  std::vector<std::uint8_t> front;
  append(front, key);
  front.resize(round_up(front.size(), 8));
  append(front, table);
  append(front, checksums);
  header.checksum = header.checksum_with(front);
  file.write(&header, sizeof header, 0);
  file.write(front.data(), front.size(), sizeof header);
  file.commit();
}

ArrayFileReader::ArrayFileReader(const std::string& path, const std::string& key, ForEach for_each)
    : file_(path), for_each_(std::move(for_each)) {
  // Checksums detect damage, but not a file that somebody forged.
  if (!file_.distrust().empty()) throw Error(fmt::format("{}: {}", path, file_.distrust()));
  check_front(key);
}

void ArrayFileReader::fail(const std::string& what) const {
  file_.fail(next_section_ < sections_.size() ? sections_[next_section_].offset : header_.front_bytes, what);
}

void ArrayFileReader::check_front(const std::string& key) {
  const std::uint64_t bytes = file_.bytes();
  if (bytes < sizeof header_) file_.fail(bytes, "the file is cut short");
  std::memcpy(&header_, file_.data(), sizeof header_);
  if (header_.magic != ArrayFileHeader::kMagic) file_.fail(0, "it is not a plan cache");
  if (header_.version != ArrayFileHeader::kVersion)
    file_.fail(offsetof(ArrayFileHeader, version),
               fmt::format("the file has format version {}, but this program has {}", header_.version,
                           ArrayFileHeader::kVersion));
  if (header_.file_bytes != bytes)
    file_.fail(std::min(bytes, header_.file_bytes),
               fmt::format("the file has {} bytes but its header says {}", bytes, header_.file_bytes));
  const std::uint64_t table = sizeof header_ + round_up(std::min(header_.key_bytes, bytes), 8);
  const std::uint64_t checksums = table + header_.sections * sizeof(ArrayFileSection);
  if (header_.front_bytes > bytes || checksums > header_.front_bytes) file_.fail(0, "the header is damaged");
  if (header_.checksum_with({file_.data() + sizeof header_, header_.front_bytes - sizeof header_}) !=
      header_.checksum)
    file_.fail(0, "the header is damaged (its checksum differs)");
  const std::string made_with(reinterpret_cast<const char*>(file_.data()) + sizeof header_,
                              header_.key_bytes);
  if (made_with != key) throw Error(fmt::format("{}: {}", file_.path(), difference(made_with, key)));
  assign(sections_, file_.data() + table, header_.sections);
  assign(checksums_, file_.data() + checksums, (header_.front_bytes - checksums) / sizeof(std::uint64_t));
  std::uint64_t blocks = 0;
  for (const auto& section : sections_) {
    if (section.offset > bytes || section.bytes > bytes - section.offset || section.offset % kAlignment != 0)
      file_.fail(table, "a section is not at its place");
    blocks += blocks_of(section.bytes);
  }
  if (blocks != checksums_.size()) file_.fail(table, "sections and checksums do not match");
}

const std::uint8_t* ArrayFileReader::check(std::span<std::byte> copies) {
  const auto [offset, bytes] = sections_[next_section_];
  const std::uint8_t* const data = file_.data() + offset;
  const std::uint64_t* const checksums = checksums_.data() + next_block_;
  const auto check_block = [&, offset = offset, bytes = bytes](int, std::uint64_t block) {
    const std::uint64_t at = block * kBlockBytes;
    const std::uint64_t more = std::min(kBlockBytes, bytes - at);
    if (checksum(data + at, more) != checksums[block])
      file_.fail(offset + at, "the file is damaged from here (a checksum differs)");
    if (!copies.empty()) std::memcpy(copies.data() + at, data + at, more);
  };
  const std::uint64_t blocks = blocks_of(bytes);
  if (blocks == 1)
    check_block(0, 0);
  else if (blocks > 1)
    for_each_(blocks, check_block);
  next_block_ += blocks;
  ++next_section_;
  return data;
}

void ArrayFileReader::copy(std::span<std::byte> out) {
  const auto [offset, bytes] = sections_[next_section_];
  check(out);
  file_.release(offset, offset + bytes);
}

}  // namespace edgewire
