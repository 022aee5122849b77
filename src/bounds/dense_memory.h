// This file predicts the memory of a process of a dense kernel.
#pragma once

#include <cstdint>

#include "dense/plan/volume.h"

namespace edgewire::bounds {

/// The share of one process in a job: its part of the graph, and the values that it exchanges.
struct DenseShare {
  int processes = 1;
  plan::Strategy strategy = plan::Strategy::slots;
  bool edges_owned = false;        ///< whether processes own blocks of edges (ownership hilbert, grid)
  std::uint64_t vertices = 0;      ///< number of owned vertices
  std::uint64_t edges = 0;         ///< number of computed edges
  std::uint64_t leaving = 0;       ///< number of edges from its vertices to those of others
  std::uint64_t values = 0;        ///< number of values that are sent in an iteration
  std::uint64_t value_bytes = 4;   ///< bytes of a value in memory
  std::uint64_t weight_bytes = 0;  ///< bytes of a weight for each edge in tiles
};

/// Returns the most anonymous memory that the process has until its job ends, in bytes, with one worker:
/// while it plans, while it builds tiles or while it iterates. The sum leaves out the mapped graph, buffers
/// of connections, the shared memory of inboxes, and the values that rank 0 gathers. The bytes of an edge in
/// a tile depend on the graph, so this is an estimate: the constants are those of Kronecker graphs and of a
/// web crawl.
std::uint64_t dense_memory(const DenseShare& share);

}  // namespace edgewire::bounds
