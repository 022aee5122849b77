#pragma once

#include <cstdint>

namespace edgewire::disk {

/// A process keeps so many bytes in memory for a vertex while its edges are on disks.
struct VertexBytes {
  std::uint64_t owned = 0;  ///< bytes for each vertex of the process
  std::uint64_t other = 0;  ///< bytes for each vertex of another process that its edges lead to
};

/// The vertices of a process.
struct VertexCounts {
  std::uint64_t owned = 0, other = 0;  ///< as in VertexBytes
};

/// The memory of a process whose edges are on disks. What it keeps of vertices comes first. Edges on their
/// way to the disks and from there share the rest. Not in it: the program and what its workers need at least,
/// for which a process may take 64 MiB more.
class MemoryBudget {
 public:
  /// Makes a budget where memory is ample.
  MemoryBudget() = default;
  /// `memory_bytes`: of the process; 0: ample. Throws Error where the vertices need more.
  MemoryBudget(std::uint64_t memory_bytes, const VertexBytes& bytes, const VertexCounts& vertices);

  /// Returns the bytes for edges; where memory is ample, `otherwise`.
  std::uint64_t rest_or(std::uint64_t otherwise) const noexcept { return ample_ ? otherwise : rest_; }
  /// Returns how much each of so many workers reads ahead: a quarter of the rest for all together, 1 MiB each
  /// at least.
  std::uint64_t read_ahead(std::uint64_t workers) const noexcept;

 private:
  bool ample_ = true;
  std::uint64_t rest_ = 0;
};

}  // namespace edgewire::disk
