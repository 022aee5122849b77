// Decides which process computes an edge that either of two processes can compute.
#pragma once

#include <cstdint>
#include <vector>

#include "dense/plan/volume.h"

namespace edgewire::plan {

/// The number of edges that each process computes: the edges that leave its vertices, minus those that it
/// moves away, plus those that others move to it. `edges`: from each process to each other; on the diagonal,
/// inside a process.
std::vector<std::uint64_t> computed_edges(const Traffic& edges, const Traffic* moved = nullptr);

/// The number of edges that move from each process to each other one. All of `moved` must move. Edges of
/// `free` may move: only as many as needed, often none, so that no process computes much more than the mean.
/// Processes that compute more give to those that compute least. All processes get the same result.
Traffic balance(const Traffic& edges, Traffic moved, const Traffic& free);

}  // namespace edgewire::plan
