// Compressed files in parts that say how long they are: they can be unpacked side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/decompress.h"
#include "graph/raw_bytes.h"

namespace edgewire::graph {

/// A block of BGZF (the SAM/BAM format specification, section 4.1: a gzip member whose extra field says its
/// length), or a Zstandard frame that says how much it holds. Other gzip members do not say where they end.
struct PackedPart {
  std::span<const std::uint8_t> packed;
  std::uint64_t offset = 0;  ///< in the file
  std::size_t plain_bytes = 0;
  bool gzip = false;
};

/// The plain bytes of a file of several such parts. Members and frames that are none may follow. All but
/// unpack() are not thread safe. All throw Error with path and byte offset (in the compressed file) when the
/// data is damaged or cut short.
class PartReader final : public ByteStream {
 public:
  /// A reader for `raw`, which must outlive it; null where it does not begin with such parts, or is no file.
  static std::unique_ptr<PartReader> of(RawBytes& raw);
  PartReader(RawBytes& raw, bool gzip) : raw_(raw), gzip_(gzip) {}

  std::size_t read(char* to, std::size_t room) override;

  /// What read() has unpacked and not handed out; it comes before all that take() gives from now on.
  std::vector<char> take_rest();
  /// The next parts, with `plain_bytes` in all or more; fewer at the end of the file, or before what can only
  /// be read().
  std::vector<PackedPart> take(std::size_t plain_bytes);
  /// Writes the plain bytes of the parts. There must be one byte more room than they have. Thread safe.
  void unpack(std::span<const PackedPart> parts, char* to) const;

 private:
  RawBytes& raw_;
  bool gzip_;
  std::vector<char> rest_;
  std::size_t rest_used_ = 0;
  std::unique_ptr<ByteStream> others_;  // once there is something else
};

/// What is wrong with gzip data, from the result of isal_inflate().
const char* inflate_fault(int result);

}  // namespace edgewire::graph
