#pragma once

#include <cstdint>

namespace edgewire::disk {

/// The bytes of memory that a process keeps for a vertex while its edges are on disks.
struct VertexBytes {
  std::uint64_t owned = 0;  ///< bytes for each vertex of the process
  std::uint64_t other = 0;  ///< bytes for each vertex of another process that its edges lead to
};

/// The vertices of a process.
struct VertexCounts {
  std::uint64_t owned = 0, other = 0;  ///< number of vertices, as in VertexBytes
};

/// The memory of a process whose edges are on disks. What it keeps of vertices comes first. Edges on their
/// way to the disks and from there share the rest. It does not count the program and the least memory of its
/// workers, for which a process may take 64 MiB more.
class MemoryBudget {
 public:
  /// Makes a budget where memory is ample.
  MemoryBudget() = default;
  /// Makes a budget. `memory_bytes`: of the process; 0: ample. Throws Error where the vertices need more.
  MemoryBudget(std::uint64_t memory_bytes, const VertexBytes& bytes, const VertexCounts& vertices);

  /// Returns the bytes for edges; `otherwise` where memory is ample.
  std::uint64_t rest_or(std::uint64_t otherwise) const noexcept { return ample_ ? otherwise : rest_; }
  /// Returns how much each worker reads ahead: together a quarter of the rest, but 1 MiB each at least.
  std::uint64_t read_ahead(std::uint64_t workers) const noexcept;

 private:
  bool ample_ = true;
  std::uint64_t rest_ = 0;
};

}  // namespace edgewire::disk
