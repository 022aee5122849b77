// The format of a checkpoint's files: a header, then the values of one process, in whole blocks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.h"
#include "dense/exchange/exchange.h"
#include "edgewire/detail/memory.h"

namespace edgewire::job {

using Magic = std::array<char, 8>;
inline constexpr Magic kValues{'E', 'W', 'S', 'T', 'A', 'T', 'E', '4'};
inline constexpr Magic kIds{'E', 'W', 'O', 'W', 'N', 'E', 'R', '4'};

/// Then come `count` words of 4 bytes: ids of one word, or two where they have 64 bits, or values of one or
/// two, in the order of the process that wrote them; and zeros up to a multiple of 4096 bytes.
struct CheckpointHeader {
  Magic magic{};
  std::uint64_t run = 0;
  std::uint64_t iteration = 0;  ///< 0 before ids
  std::uint32_t rank = 0;
  std::uint32_t processes = 0;
  std::uint64_t count = 0;
  using Totals = std::array<double, 2>;
  Totals totals{};             ///< of the program, of its type
  std::uint64_t checksum = 0;  ///< XXH3 of the whole file, this field being 0
};
static_assert(sizeof(CheckpointHeader) == 64);

/// The content of a file in memory. It is allocated once and filled for each checkpoint, because new pages
/// cost more than copying into old ones. For the same reason it is written past the page cache where the file
/// system allows that.
class CheckpointFile {
 public:
  /// Makes room for `items`. Throws Error.
  explicit CheckpointFile(std::uint64_t items);
  /// Takes a copy. As many items as room, or fewer; sets the header's count and checksum.
  void fill(CheckpointHeader header, std::span<const std::byte> items);
  /// Puts it at `path`: over what is there, or, when `old` is not empty, into the file of that path, which
  /// takes the name first; its pages and blocks are used again. After a
  /// failure there is none. Throws Error.
  void write(const std::string& path, const std::string& old) const;

 private:
  topology::NodeMemory memory_;
  std::size_t bytes_ = 0;  ///< of the file
};

/// A file that was read, whole and with the right checksum.
struct CheckpointPart {
  CheckpointHeader header;
  std::vector<std::uint32_t> items;
};
/// Throws Error that names the file and what is wrong with it: missing, no such file, more than `most` items,
/// torn.
CheckpointPart read_checkpoint_file(const std::string& path, const Magic& magic, std::uint64_t most);

}  // namespace edgewire::job
