// This file has what people ask of a breadth-first search besides levels and parents.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/bfs.h"
#include "process/top_k.h"

namespace edgewire::kernels {

struct BreadthFirstQuestion {
  std::uint64_t farthest = 0;        ///< how many of the vertices that are farthest
  std::optional<VertexId> target{};  ///< the end of a path; the search has parents
};

struct BreadthFirstAnswer {
  std::uint64_t edges = 0;                                    ///< out of all that was reached
  std::vector<process::Candidate<std::uint64_t>> farthest{};  ///< by level, highest first
  std::vector<VertexId> path{};  ///< from the source to the target; empty: there is none
};

/// Returns the part of this process, after search.run(source). The question is the same in all processes.
/// Collective; throws Error.
BreadthFirstAnswer answer_of(frontier::FrontierJob& job, const BreadthFirst& search, VertexId source,
                             const BreadthFirstQuestion& question);
/// Returns the answer at rank 0, made of the parts of all processes; elsewhere it returns nothing that
/// counts. `farthest`: as it was asked. Collective; throws Error.
BreadthFirstAnswer join_answers(launch::Bootstrap& bootstrap, const BreadthFirstAnswer& mine,
                                std::uint64_t farthest);

}  // namespace edgewire::kernels
