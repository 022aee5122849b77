// The bytes of a file as it lies on the disk, or of standard input, front to back.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"

namespace edgewire::graph {

/// A file that is mapped, or standard input ("-"), which may be a pipe. Not thread safe.
class RawBytes {
 public:
  /// Throws Error with the path and the system's reason.
  explicit RawBytes(const std::string& path);

  /// What messages call it: the path, or "stdin".
  const std::string& name() const noexcept { return name_; }
  bool is_file() const noexcept { return file_.has_value(); }
  /// All bytes of a file. Empty for standard input.
  std::span<const std::uint8_t> mapped() const noexcept;

  /// Of a file: see MappedFile.
  void expect_scattered_reads(bool scattered) const noexcept { file_->expect_scattered_reads(scattered); }
  /// Of a file: lets the kernel drop the pages that lie within [begin, end) from this process.
  void release(std::uint64_t begin, std::uint64_t end) const noexcept { file_->release(begin, end); }

  /// The bytes that are not used yet: at least `least` (up to 64 KiB), fewer only where the input ends. Valid
  /// until the next call. Throws Error when the system cannot read.
  std::span<const std::uint8_t> peek(std::size_t least = 1);
  void use(std::size_t count) noexcept { used_ += count; }
  std::uint64_t used() const noexcept { return used_; }

  /// Throws Error: "NAME: byte OFFSET: WHAT".
  [[noreturn]] void fail(std::uint64_t offset, std::string_view what) const;

 private:
  std::string name_;
  std::optional<MappedFile> file_;
  std::uint64_t used_ = 0;
  // Of standard input only: what is in the buffer begins at this offset.
  std::vector<std::uint8_t> buffer_;
  std::uint64_t buffer_offset_ = 0;
};

}  // namespace edgewire::graph
