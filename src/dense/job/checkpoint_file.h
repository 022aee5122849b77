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

/// The header of a file. Then come `count` words of 4 bytes: ids or values of one word or two, in the order
/// of the process that wrote them; and zeros up to a multiple of 4096 bytes.
struct CheckpointHeader {
  Magic magic{};
  std::uint64_t run = 0;
  std::uint64_t iteration = 0;  ///< iteration; 0 before ids
  std::uint32_t rank = 0;
  std::uint32_t processes = 0;
  std::uint64_t count = 0;
  using Totals = std::array<double, 2>;
  Totals totals{};             ///< totals of the program, in its type
  std::uint64_t checksum = 0;  ///< XXH3 of the whole file, with 0 in this field
};
static_assert(sizeof(CheckpointHeader) == 64);

/// The content of a file in memory. It is allocated once and filled for each checkpoint, and written past the
/// page cache where the file system allows that: new pages cost more than copying into old ones.
class CheckpointFile {
 public:
  /// Makes room for `items`. Throws Error.
  explicit CheckpointFile(std::uint64_t items);
  /// Copies `items`, no more than there is room for, and sets the header's count and checksum.
  void fill(CheckpointHeader header, std::span<const std::byte> items);
  /// Writes it to `path`: over the file there, or into the file of the path `old`, unless that is empty,
  /// which takes the name first; its blocks are used again. After a failure there is no file. Throws Error.
  void write(const std::string& path, const std::string& old) const;

 private:
  topology::NodeMemory memory_;
  std::size_t bytes_ = 0;  ///< bytes of the file
};

/// The content of a file that was read, whole and with the right checksum.
struct CheckpointPart {
  CheckpointHeader header;
  std::vector<std::uint32_t> items;
};
/// Reads a file. Throws Error that names it and the fault: missing, of another kind, too many items, or torn.
CheckpointPart read_checkpoint_file(const std::string& path, const Magic& magic, std::uint64_t most);

}  // namespace edgewire::job
