// Reading .gz and .zst.
#pragma once

#include <cstddef>
#include <memory>

#include "graph/mapped_file.h"

namespace edgewire::graph {

/// The plain bytes of a compressed file, front to back. Not thread safe. Refers to the file, which must
/// outlive it.
class Decompressor {
 public:
  Decompressor() = default;
  virtual ~Decompressor() = default;
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  /// Fills `to` with up to `room` bytes; fewer only at the end, 0 after it. Throws Error with path and byte
  /// offset (in the compressed file) when the data is damaged or cut short.
  virtual std::size_t read(char* to, std::size_t room) = 0;
  /// Bytes of the compressed file that have been used.
  virtual std::uint64_t consumed() const noexcept = 0;
};

/// Null for a file that begins with neither format's magic number, whatever its name. Throws Error for a
/// compressed file that this build cannot read.
std::unique_ptr<Decompressor> decompressor_for(const MappedFile& file);

}  // namespace edgewire::graph
