#include "disk/segment_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "base/mapped_file.h"
#include "disk/queue.h"

namespace edgewire::disk {

static_assert(kAlignment == kPageBytes);  // padded() makes multiples of it

std::size_t Segment::padded_bytes() const noexcept { return padded(bytes); }

std::vector<std::string> device_paths(const std::vector<std::string>& folders, const std::string& name) {
  std::vector<std::string> paths;
  for (std::size_t d = 0; d < folders.size(); ++d)
    paths.push_back(std::filesystem::path(folders[d]) / fmt::format("{}-disk-{}", name, d));
  return paths;
}

SegmentWriter::SegmentWriter(const std::vector<std::string>& paths, std::uint64_t generation)
    : paths_(paths), ends_(paths.size(), kAlignment), generation_(generation) {
  const std::array<char, kAlignment> page{};
  for (const auto& path : paths) {
    files_.push_back(std::make_unique<OutputFile>(path, 0644));  // readers trust it, whatever the umask
    files_.back()->write(page.data(), page.size(), 0);           // takes the room of the header
  }
}

Segment SegmentWriter::place(std::uint32_t bytes) {
  const auto least = std::ranges::min_element(ends_);
  const Segment segment{*least, static_cast<std::uint32_t>(least - ends_.begin()), bytes, 0};
  *least += segment.padded_bytes();
  return segment;
}

void SegmentWriter::write(Segment& segment, std::span<std::byte> bytes) {
  segment.checksum = checksum(bytes.data(), segment.bytes);
  const auto padding = bytes.first(segment.padded_bytes()).subspan(segment.bytes);
  std::ranges::fill(padding, std::byte{0});
  files_[segment.file]->write(bytes.data(), segment.padded_bytes(), segment.offset);
}

SegmentFiles SegmentWriter::commit() {
  for (std::size_t f = 0; f < files_.size(); ++f) {
    const SegmentFileHeader header{.file = static_cast<std::uint32_t>(f),
                                   .files = static_cast<std::uint32_t>(files_.size()),
                                   .file_bytes = ends_[f],
                                   .generation = generation_};
    std::array<char, kAlignment> page{};
    std::memcpy(page.data(), &header, sizeof header);
    files_[f]->write(page.data(), page.size(), 0);
  }
  SegmentFiles written(paths_);
  for (std::size_t f = 0; f < files_.size(); ++f) {
    OpenFile file(fcntl(files_[f]->descriptor(), F_DUPFD_CLOEXEC, 0));
    if (file.descriptor() < 0) throw Error(fmt::format("{}: cannot read: {}", paths_[f], reason(errno)));
    files_[f]->commit();
    written.add(std::move(file), ends_[f]);
  }
  return written;
}

SegmentFiles::SegmentFiles(std::vector<std::string> paths, std::uint64_t generation)
    : SegmentFiles(std::move(paths)) {
  for (const auto& path : paths_) open(path, generation);
}

void SegmentFiles::open(const std::string& path, std::uint64_t generation) {
  const auto refuse = [&](std::uint64_t offset, const std::string& what) {
    throw Error(fmt::format("{}: byte {}: {}", path, offset, what));
  };
  // The open is nonblocking, so that a pipe without a writer does not hang.
  OpenFile file(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }));
  struct stat status {};
  if (file.descriptor() < 0 || fstat(file.descriptor(), &status) != 0)
    throw Error(fmt::format("{}: cannot read: {}", path, reason(errno)));
  if (!S_ISREG(status.st_mode)) throw Error(fmt::format("{}: it is not a regular file", path));
  // Checksums detect damage, but not a file that somebody forged.
  if (status.st_uid != geteuid() || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    throw Error(fmt::format("{}: somebody else may have written it", path));
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  SegmentFileHeader header;
  if (bytes < sizeof header) refuse(bytes, "the file is cut short");
  read_at(file.descriptor(), path, &header, sizeof header, 0);
  if (header.magic != SegmentFileHeader::kMagic) refuse(0, "it is not a file of segments");
  if (header.generation != generation || header.file != files_.size() || header.files != paths_.size())
    refuse(offsetof(SegmentFileHeader, file), "the file belongs to another plan");
  if (header.file_bytes != bytes)
    refuse(std::min(bytes, header.file_bytes),
           fmt::format("the file has {} bytes but its header says {}", bytes, header.file_bytes));
  add(std::move(file), bytes);
}

void SegmentFiles::add(OpenFile file, std::uint64_t bytes) {
  // Reads use the page cache where the file system cannot pass it by.
  direct_ = bypass_page_cache(file) && direct_;
  files_.push_back(std::move(file));
  bytes_.push_back(bytes);
}

std::vector<int> SegmentFiles::descriptors() const {
  std::vector<int> all;
  for (const OpenFile& file : files_) all.push_back(file.descriptor());
  return all;
}

std::uint64_t SegmentFiles::bytes() const noexcept {
  return std::accumulate(bytes_.begin(), bytes_.end(), std::uint64_t{0});
}

void SegmentFiles::check(const Segment& segment) const {
  if (segment.file >= files_.size()) throw Error(fmt::format("{}: a file is missing", paths_[0]));
  const std::uint64_t bytes = bytes_[segment.file];
  if (segment.offset % kAlignment != 0 || segment.offset < kAlignment || segment.offset > bytes ||
      segment.padded_bytes() > bytes - segment.offset)
    fail(segment, "a segment is not at its place");
}

void SegmentFiles::fail(const Segment& segment, const std::string& what) const {
  throw Error(fmt::format("{}: byte {}: {}", paths_[segment.file], segment.offset, what));
}

std::string SegmentFiles::cause_of(const Segment& segment, int error) const {
  struct stat status {};
  // A read that goes on behind the end of a file that was cut short is misaligned.
  const bool cut = fstat(descriptor(segment.file), &status) == 0 &&
                   static_cast<std::uint64_t>(status.st_size) < segment.offset + segment.padded_bytes();
  return cut ? "the file was cut short" : "cannot read: " + reason(error);
}

}  // namespace edgewire::disk
