// This file has the answers of a breadth-first search besides levels and parents.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/bfs/bfs.h"
#include "process/top_k.h"

namespace edgewire::kernels {

struct BfsQuestion {
  std::uint64_t farthest = 0;        ///< number of the farthest vertices to list
  std::optional<VertexId> target{};  ///< end of a path; the search has parents
};

/// The answer that levels give, those of a process or of all.
struct BfsAnswer {
  std::uint64_t reached = 0;  ///< number of reached vertices
  std::uint64_t depth = 0;    ///< highest level
  std::uint64_t edges = 0;    ///< number of edges out of them; rank 0 has counted those of all processes
  std::vector<process::Candidate<std::uint64_t>> farthest{};  ///< farthest vertices, by level, highest first
  std::vector<VertexId> path{};  ///< path from the source to the target; empty: there is none
};

/// Returns the part of this process, after search.run(source). The question is the same in all processes.
/// Collective; throws Error.
BfsAnswer answer_of(frontier::Job& job, const Bfs& search, VertexId source, const BfsQuestion& question);
/// Returns the answer at rank 0, made of the parts of all processes; elsewhere the result is undefined.
/// `farthest`: as in the question. Collective; throws Error.
BfsAnswer join_answers(launch::Bootstrap& bootstrap, const BfsAnswer& mine, std::uint64_t farthest);

}  // namespace edgewire::kernels
