#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <time.h>

#include "base/file_calls.h"

namespace edgewire::shuffle {

/// Several files as one sequence of records. Thread safe after construction.
class RecordInput {
 public:
  /// Opens the files. Throws Error naming one that cannot be read, or has no multiple of `record_bytes`.
  RecordInput(const std::vector<std::string>& paths, std::size_t record_bytes);

  std::uint64_t records() const noexcept { return files_.empty() ? 0 : files_.back().end; }
  std::uint64_t bytes() const noexcept { return records() * record_bytes_; }
  /// Reads records [first, first + count) one behind the other. Throws Error with path and byte.
  void read(std::uint64_t first, std::uint64_t count, std::byte* to) const;
  /// Throws Error that names a file which was written since it was opened.
  void refuse_changed() const;

 private:
  struct One {
    std::string path;
    OpenFile file;
    std::uint64_t begin, end;  ///< places of the file's records in the sequence
    timespec written;          ///< time of the last change of its content
  };
  std::size_t record_bytes_;
  std::vector<One> files_;
};

}  // namespace edgewire::shuffle
