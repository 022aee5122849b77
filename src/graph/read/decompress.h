// The bytes of files: as they lie on the disk, unpacked (.gz, .zst, .xz and .bz2), and those of the graph in
// an archive of the SuiteSparse collection (.tar.gz) or of KONECT (.tar.bz2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"

namespace edgewire::graph {

/// A mapped file, or standard input ("-"), which may be a pipe, front to back. Not thread safe.
class RawBytes {
 public:
  /// Opens the input. Throws Error with the path and the system's reason.
  explicit RawBytes(const std::string& path);

  /// Returns the name that messages use: the path, or "stdin".
  const std::string& name() const noexcept { return name_; }
  bool is_file() const noexcept { return file_.has_value(); }
  /// Returns all bytes of a file. It is empty for standard input.
  std::span<const std::uint8_t> mapped() const noexcept;

  /// Tells the system how a file is read: see MappedFile.
  void expect_scattered_reads(bool scattered) const noexcept { file_->expect_scattered_reads(scattered); }
  /// Lets the kernel drop the pages of a file that lie within [begin, end) from this process.
  void release(std::uint64_t begin, std::uint64_t end) const noexcept { file_->release(begin, end); }

  /// Returns the bytes that are not used yet: at least `least` (up to 64 KiB), fewer only where the input
  /// ends. They are valid until the next call. Throws Error when the system cannot read.
  std::span<const std::uint8_t> peek(std::size_t least = 1);
  void use(std::size_t count) noexcept { used_ += count; }
  /// Starts again at the first byte of a file.
  void restart() noexcept { used_ = 0; }
  std::uint64_t used() const noexcept { return used_; }

  /// Throws Error: "NAME: byte OFFSET: WHAT".
  [[noreturn]] void fail(std::uint64_t offset, std::string_view what) const;

 private:
  std::string name_;
  std::optional<MappedFile> file_;
  std::uint64_t used_ = 0;
  // The buffer is for standard input only: its content begins at this offset.
  std::vector<std::uint8_t> buffer_;
  std::uint64_t buffer_offset_ = 0;
};

/// Plain bytes, front to back. Not thread safe.
class ByteStream {
 public:
  ByteStream() = default;
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  /// Fills `to` with up to `room` bytes; fewer only at the end, 0 after it. Throws Error with path and byte
  /// offset (in the compressed file) when the data is damaged or cut short.
  virtual std::size_t read(char* to, std::size_t room) = 0;
};

/// Returns the plain bytes of `raw`, which must outlive the stream: unpacked where it begins as a file of a
/// format above, whatever its name, else as they are. Throws Error for a compressed file that
/// this build cannot read.
std::unique_ptr<ByteStream> plain_bytes(RawBytes& raw);

/// Does the same for a file whose first gzip members, or Zstandard frames, have been read.
std::unique_ptr<ByteStream> more_members(RawBytes& raw, bool gzip);

/// Returns whether a Zstandard frame begins here, one that is skipped (RFC 8878, section 3.1.2) among them.
bool is_zstandard(std::span<const std::uint8_t> bytes);

/// Returns whether a file that begins like this counts as packed although its name does not say so.
bool begins_as_packed(std::string_view text);
/// Returns whether `raw` begins as a file of one of these formats.
bool is_compressed(RawBytes& raw);

/// A part of a compressed file that says how long it is, so that several can be unpacked side by side: a
/// block of BGZF (the SAM/BAM format specification, section 4.1: a gzip member whose extra field says its
/// length), or a Zstandard frame that says how much it holds. Other gzip members do not say where they end.
struct PackedPart {
  std::span<const std::uint8_t> packed;
  std::uint64_t offset = 0;  ///< offset in the file
  std::size_t plain_bytes = 0;
  bool gzip = false;
};

/// The parts that a file begins with. Only unpack() is thread safe. All throw Error with path and byte offset
/// (in the compressed file) when the data is damaged or cut short.
class PartReader {
 public:
  /// Returns nothing where `raw`, which must outlive it, does not begin with several such parts, or is no
  /// file.
  static std::optional<PartReader> of(RawBytes& raw);

  /// Returns the next parts, with at least `plain_bytes` in all; fewer where there are no more.
  std::vector<PackedPart> take(std::size_t plain_bytes);
  /// Returns how many plain bytes the parts hold.
  static std::size_t plain_bytes(std::span<const PackedPart> parts);
  /// Writes the plain bytes of the parts. There must be one byte more room than they have. Thread safe.
  void unpack(std::span<const PackedPart> parts, char* to) const;
  /// Returns the bytes behind the parts: other members and frames; null at the end of the file.
  std::unique_ptr<ByteStream> others();

 private:
  PartReader(RawBytes& raw, bool gzip) : raw_(&raw), gzip_(gzip) {}

  RawBytes* raw_;
  bool gzip_;
};

/// Returns the fault of gzip data, from the result of isal_inflate().
const char* inflate_fault(int result);

inline constexpr std::size_t kTarBlock = 512;

/// Returns whether the first block of a file is a header of a tar archive (ustar, POSIX or GNU).
bool is_tar(std::string_view first_block);

/// Reads the one file of an archive that holds the graph: NAME/NAME.mtx (SuiteSparse) or NAME/out.NAME
/// (KONECT). The rest of the archive is read through after it, so that damage is noticed.
class TarReader final : public ByteStream {
 public:
  /// Makes a reader. `archive` stands after its first block, which is `first_block`. Throws Error, with
  /// `name` (the archive's), when it holds no such file.
  TarReader(std::unique_ptr<ByteStream> archive, std::string name, std::string_view first_block);

  std::size_t read(char* to, std::size_t room) override;
  /// Returns the path of the file within the archive.
  const std::string& member() const noexcept { return member_; }

 private:
  void skip(std::uint64_t bytes);
  [[noreturn]] void fail(std::string_view what) const;

  std::unique_ptr<ByteStream> archive_;
  std::string name_, member_;
  std::uint64_t left_ = 0;  ///< number of bytes of the member that have not been read
};

}  // namespace edgewire::graph
