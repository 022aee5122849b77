// The files of a graph: one that holds the whole graph, or parts of it in a folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mapped_file.h"
#include "graph/file/format.h"
#include "graph/file/weights.h"

namespace edgewire::graph {

/// A mapped file of the layout in format.h, and the checks of its content. Rows and elements have their
/// numbers in the whole graph. All const members are thread safe; they throw Error with path and byte offset.
class GraphPart {
 public:
  enum class Kind { whole, part };
  /// Maps the file and checks its header and kind. `name`: what messages call it; empty: `path`.
  GraphPart(const std::string& path, const std::string& name, Kind kind);

  MappedFile& file() noexcept { return file_; }
  const MappedFile& file() const noexcept { return file_; }
  const Header& header() const noexcept { return header_; }
  const Extent& extent() const noexcept { return extent_; }
  /// Returns the data of a section.
  const std::uint8_t* data(std::uint32_t section) const noexcept {
    return file_.data() + header_.sections[section].offset;
  }

  /// Checks the offsets of rows [first, last), which are here.
  void check_offsets(std::uint64_t first, std::uint64_t last) const;
  /// Checks the same, and their edges, and their original ids where these are here.
  void check_rows(std::uint64_t first, std::uint64_t last) const;
  /// Checks the blocks that hold elements [first, last) of a section, which are here.
  void check(std::uint32_t section, std::uint64_t first, std::uint64_t last) const;

 private:
  template <class T>
  std::span<const T> values(std::uint32_t section) const {
    return {reinterpret_cast<const T*>(data(section)), header_.sections[section].bytes / sizeof(T)};
  }
  void check_header(Kind kind);
  void check_part() const;
  void check_block(std::uint32_t section, std::uint64_t block) const;
  void check_content(std::uint32_t section, std::uint64_t block) const;

  MappedFile file_;
  Header header_{};
  Extent extent_{};
  /// A flag for each block; check_block's release pairs with its acquire.
  mutable std::vector<std::atomic<bool>> checked_;
};

/// Opens the parts that are in the folder, in order: at least one. Throws Error where there are none, and
/// where they belong to several graphs.
std::vector<std::unique_ptr<GraphPart>> open_parts(const std::string& folder);

/// Returns the names of the parts in a folder, in order. Throws Error where it cannot be read.
std::vector<std::string> part_names(const std::string& folder);

/// The addresses of one section of a graph, into which parts are mapped. Where none is, nothing can be read.
class SectionSpace {
 public:
  using Addresses = std::pair<const std::uint8_t*, const std::uint8_t*>;

  /// Takes addresses for `bytes`. Throws Error with `name`.
  SectionSpace(std::uint64_t bytes, const std::string& name);
  ~SectionSpace();
  SectionSpace(const SectionSpace&) = delete;
  SectionSpace& operator=(const SectionSpace&) = delete;

  const std::uint8_t* data() const noexcept { return data_; }
  /// Maps the part's data of this section. Pages that belong to several parts are copied. Parts come in
  /// order. Returns where the file itself is mapped. Throws Error.
  Addresses add(GraphPart& part, std::uint32_t section);

 private:
  void copy(const std::uint8_t* from, std::uint64_t begin, std::uint64_t end);

  const std::string& name_;
  std::uint8_t* data_ = nullptr;
  std::uint64_t bytes_;        ///< size of the section
  std::uint64_t covered_ = 0;  ///< bytes that the parts so far cover
};

}  // namespace edgewire::graph
