// This file predicts how much memory a process of a dense kernel takes.
#pragma once

#include <cstdint>

#include "dense/plan/volume.h"

namespace edgewire::bounds {

/// What one process has of a job: its part of the graph, and what it exchanges.
struct DenseShare {
  int processes = 1;
  plan::Strategy strategy = plan::Strategy::slots;
  bool edges_owned = false;        ///< processes own blocks of edges (ownership hilbert, grid)
  std::uint64_t vertices = 0;      ///< owned vertices
  std::uint64_t edges = 0;         ///< computed edges
  std::uint64_t leaving = 0;       ///< edges from its vertices to those of others
  std::uint64_t values = 0;        ///< values that are sent in an iteration
  std::uint64_t value_bytes = 4;   ///< bytes of a value in memory
  std::uint64_t weight_bytes = 0;  ///< bytes of a weight for each edge in tiles
};

/// Returns the most anonymous memory that the process has until its job ends, in bytes, with one worker:
/// while it plans, while it builds tiles or while it iterates. The sum leaves out the mapped graph, buffers
/// of connections, the shared memory of inboxes, and what rank 0 gathers. How many bytes an edge takes in a
/// tile depends on the graph, so this is an estimate: the constants are those of Kronecker graphs and of a
/// web crawl.
std::uint64_t dense_memory(const DenseShare& share);

}  // namespace edgewire::bounds
