// Files that hold segments: stretches of bytes that are read whole, each with a checksum, dealt to a file on
// each of several devices.
//
//   page        4 KiB: the header, then zeros
//   segments    each at a multiple of 4 KiB, padded with zeros
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file_calls.h"
#include "base/output_file.h"

namespace edgewire::disk {

/// The place of a segment, and the content that it must have.
struct Segment {
  std::uint64_t offset = 0;  ///< place in its file: a multiple of kAlignment
  std::uint32_t file = 0;
  std::uint32_t bytes = 0;     ///< number of bytes without padding
  std::uint64_t checksum = 0;  ///< checksum: XXH3-64

  std::size_t padded_bytes() const noexcept;
};
static_assert(sizeof(Segment) == 24);

struct SegmentFileHeader {
  static constexpr std::array<char, 8> kMagic{'E', 'W', 'S', 'E', 'G', 'S', '\r', '\n'};
  std::array<char, 8> magic = kMagic;
  std::uint32_t file = 0, files = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t generation = 0;  ///< number that is the same in all files that belong together
};
static_assert(sizeof(SegmentFileHeader) == 32);

/// Returns FOLDER/NAME-disk-D in each of the devices' folders.
std::vector<std::string> device_paths(const std::vector<std::string>& folders, const std::string& name);

class SegmentFiles;

/// Writes segments to files, one for each device.
class SegmentWriter {
 public:
  /// Makes the files. Throws Error that names the file which cannot be written.
  SegmentWriter(const std::vector<std::string>& paths, std::uint64_t generation);

  /// Chooses a place for the next segment, in the file with the fewest bytes. One thread at a time calls it.
  Segment place(std::uint32_t bytes);
  /// Writes a segment to its place, and sets its checksum. `bytes` has room for its padding, which is set to
  /// zeros. Thread safe. Throws Error with the path.
  void write(Segment& segment, std::span<std::byte> bytes);
  /// Gives the files their names. These files are returned, whatever others have given the same names
  /// meanwhile. It is called once. Throws Error with the path.
  SegmentFiles commit();

 private:
  std::vector<std::string> paths_;
  std::vector<std::unique_ptr<OutputFile>> files_;
  std::vector<std::uint64_t> ends_;
  std::uint64_t generation_;
};

/// Files of segments, open for reads past the page cache where the file system can.
class SegmentFiles {
 public:
  /// Opens the files. Throws Error that names the file when one is missing, another user's, cut short or of
  /// another generation.
  SegmentFiles(std::vector<std::string> paths, std::uint64_t generation);

  const std::vector<std::string>& paths() const noexcept { return paths_; }
  int descriptor(std::size_t file) const noexcept { return files_[file].descriptor(); }
  std::vector<int> descriptors() const;
  std::uint64_t bytes(std::size_t file) const noexcept { return bytes_[file]; }
  /// The bytes of all files.
  std::uint64_t bytes() const noexcept;
  /// Throws Error when the segment is not within its file.
  void check(const Segment& segment) const;
  /// The message for bytes that are not those that were written.
  static constexpr const char* kDamaged =
      "the file is damaged here (a checksum differs); remove it, and the next run writes it anew";
  /// Throws Error: "PATH: byte OFFSET: WHAT".
  [[noreturn]] void fail(const Segment& segment, const std::string& what) const;
  /// Returns why a read of the segment failed.
  std::string cause_of(const Segment& segment, int error) const;
  /// Returns whether reads of all files pass by the page cache.
  bool direct() const noexcept { return direct_; }
  /// Counts a segment that was read; it is called for each. Thread safe.
  void count_read(const Segment& segment) const noexcept {
    read_[segment.file].fetch_add(segment.padded_bytes(), std::memory_order_relaxed);
  }
  /// Returns, by file, how many bytes were read, as far as count_read() was called.
  std::vector<std::uint64_t> bytes_read() const { return {read_.begin(), read_.end()}; }
  /// Returns the same for all files together.
  std::uint64_t all_bytes_read() const {
    return std::accumulate(read_.begin(), read_.end(), std::uint64_t{0});
  }

 private:
  friend class SegmentWriter;
  explicit SegmentFiles(std::vector<std::string> paths) : paths_(std::move(paths)), read_(paths_.size()) {}
  void open(const std::string& path, std::uint64_t generation);
  void add(OpenFile file, std::uint64_t bytes);
  std::vector<std::string> paths_;
  std::vector<OpenFile> files_;
  std::vector<std::uint64_t> bytes_;
  bool direct_ = true;
  mutable std::vector<std::atomic<std::uint64_t>> read_;  ///< bytes read by file
};

}  // namespace edgewire::disk
