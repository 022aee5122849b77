// One file of a graph: the whole graph, or a part of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "graph/format.h"
#include "graph/weights.h"

namespace edgewire::graph {

/// A mapped file of the layout in format.h, and the checks of what it holds. Rows and elements have their
/// numbers in the whole graph. All const members are thread safe; they throw Error with path and byte offset.
class GraphPart {
 public:
  enum class Kind { whole, part };
  /// Maps the file and checks its header, which must be that of such a file. `name`: what messages call it;
  /// empty: `path`.
  GraphPart(const std::string& path, const std::string& name, Kind kind);

  MappedFile& file() noexcept { return file_; }
  const MappedFile& file() const noexcept { return file_; }
  const Header& header() const noexcept { return header_; }
  const Extent& extent() const noexcept { return extent_; }
  /// The data of a section.
  const std::uint8_t* data(std::uint32_t section) const noexcept {
    return file_.data() + header_.sections[section].offset;
  }

  /// Checks the offsets of rows [first, last), which are here.
  void check_offsets(std::uint64_t first, std::uint64_t last) const;
  /// The same, and their edges, and their original ids where these are here.
  void check_rows(std::uint64_t first, std::uint64_t last) const;
  /// Checks the blocks that hold elements [first, last) of a section, which are here.
  void check(std::uint32_t section, std::uint64_t first, std::uint64_t last) const;

 private:
  template <class T>
  std::span<const T> values(std::uint32_t section) const {
    return {reinterpret_cast<const T*>(data(section)), header_.sections[section].bytes / sizeof(T)};
  }
  Weights weights() const;
  void check_header(Kind kind);
  void check_part() const;
  void check_block(std::uint32_t section, std::uint64_t block) const;
  void check_content(std::uint32_t section, std::uint64_t block) const;

  MappedFile file_;
  Header header_{};
  Extent extent_{};
  /// For each block; check_block's release pairs with its acquire.
  mutable std::vector<std::atomic<bool>> checked_;
};

}  // namespace edgewire::graph
