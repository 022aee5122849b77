#pragma once

#include <span>
#include <vector>

#include "frontier/frontier_job.h"

namespace edgewire::kernels {

/// Returns the vertices of the path that parents define, from `source` to `target`; empty if the target has
/// no parent. `parents`: the vertices before, by local number; kNoVertex without one. The path is the same in
/// all processes. Collective; throws Error, also when the parents lead round in a circle.
std::vector<VertexId> path_to(frontier::Job& job, std::span<const PlainId> parents, VertexId source,
                              VertexId target);

/// Returns the same in one process, from the parents of all vertices, by vertex. Throws Error as above.
std::vector<VertexId> path_to(std::span<const PlainId> parents, VertexId source, VertexId target);

}  // namespace edgewire::kernels
