// Reading .gz, .zst, .xz and .bz2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "graph/raw_bytes.h"

namespace edgewire::graph {

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

/// The plain bytes of `raw`, which must outlive the stream: unpacked where it begins with the magic number of
/// a format above, whatever its name, else as they are. Throws Error for a compressed file that this build
/// cannot read.
std::unique_ptr<ByteStream> plain_bytes(RawBytes& raw);

/// The same for a file whose first gzip members, or Zstandard frames, have been read.
std::unique_ptr<ByteStream> more_members(RawBytes& raw, bool gzip);

/// Whether a Zstandard frame begins here, one that is skipped (RFC 8878, section 3.1.2) among them.
bool is_zstandard(std::span<const std::uint8_t> bytes);

/// True when `raw` begins with one of these magic numbers.
bool is_compressed(RawBytes& raw);

}  // namespace edgewire::graph
