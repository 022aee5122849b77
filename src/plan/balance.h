// Which process computes the edges that either of two can compute.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/volume.h"

namespace edgewire::plan {

/// Edges that each process computes: those that leave its vertices, less what it moves away, plus what others
/// move to it. `edges` from every process to every one, the own on the diagonal.
std::vector<std::uint64_t> computed_edges(const Traffic& edges, const Traffic* moved = nullptr);

/// The edges that move from each process to each other one: `moved`, which must, and of `free`, which can, as
/// many as it takes so that no process computes much more than the mean; mostly none. Processes that compute
/// more give to those that compute least. The same in all processes that ask.
Traffic balance(const Traffic& edges, Traffic moved, const Traffic& free);

}  // namespace edgewire::plan
