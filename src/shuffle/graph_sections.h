// The sections of an .ew file (graph/file/format.h), or of a part, written by several workers and processes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "graph/file/format.h"
#include "transport/health.h"

namespace edgewire::shuffle {

/// A graph file under way, as one process sees it.
struct GraphSections {
  int descriptor = -1;
  std::string path;
  graph::Header header{};
  const transport::Health* health = nullptr;
  std::vector<std::uint64_t> checksums;  ///< checksums of the blocks that one writer wrote whole
  std::vector<std::uint8_t> known;       ///< whether a block is one of those, by block

  /// Reads the blocks that have no checksum yet. Throws Error.
  void complete_checksums();
  /// Returns where an element of a section lies, counted from the first of the section's pages.
  std::uint64_t byte_of(std::uint32_t section, std::uint64_t element) const;
};

/// Writes consecutive elements of one section.
class SectionWriter {
 public:
  /// Begins at element `first`, as it is numbered in the whole graph. `sections` outlives this.
  SectionWriter(GraphSections& sections, std::uint32_t section, std::uint64_t first);
  template <class Element>
  void put(Element element) {
    std::memcpy(&block_[filled_], &element, sizeof element);
    filled_ += sizeof element;
    if (filled_ == graph::kBlockBytes) write_block();
  }
  /// Writes the rest.
  void finish() {
    if (filled_ > begin_) write_block();
  }

 private:
  void write_block();

  GraphSections& sections_;
  std::uint32_t section_;
  std::uint64_t number_;          ///< number of the block in the section
  std::uint64_t begin_, filled_;  ///< bytes [begin_, filled_) of the block are here
  std::vector<std::byte> block_;
};

}  // namespace edgewire::shuffle
