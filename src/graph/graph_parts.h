// A graph that lies in a folder, in several parts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph_part.h"

namespace edgewire::graph {

/// The parts that are in the folder, in order: one at least. Throws Error where there are none, and where
/// they are not of one graph.
std::vector<std::unique_ptr<GraphPart>> open_parts(const std::string& folder);

/// The names of the parts in a folder, in order. Throws Error where it cannot be read.
std::vector<std::string> part_names(const std::string& folder);

/// The addresses of one section of a graph. Parts are mapped into it, each at its place. Nothing can be read
/// where no part is.
class SectionSpace {
 public:
  using Addresses = std::pair<const std::uint8_t*, const std::uint8_t*>;

  /// Takes addresses for so many bytes. Throws Error with `name`.
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
  std::uint64_t bytes_;        ///< of the section
  std::uint64_t covered_ = 0;  ///< by the parts so far
};

}  // namespace edgewire::graph
