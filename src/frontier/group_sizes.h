// This file counts how many vertices have the same label: the sizes of components and communities.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontier/frontier_job.h"
#include "process/top_k.h"

namespace edgewire::frontier {

struct GroupSizes {
  std::uint64_t groups = 0;   ///< number of labels that a vertex has
  std::uint64_t singles = 0;  ///< number of groups with one vertex
  /// The labels and sizes of the largest groups, at rank 0: largest first, then by label.
  std::vector<process::Candidate<std::uint64_t>> largest;
};

/// Counts the vertices of each label. `labels`: by local number. `largest`: the number of groups to list, the
/// same in all processes. A label is counted by its owner, to whom the others send their counts, in records
/// of the job, which are no short ones. Memory: as much as an id for each owned vertex, 1024 records
/// for each worker. Collective; throws Error.
GroupSizes count_groups(Job& job, std::span<const PlainId> labels, std::uint64_t largest);

}  // namespace edgewire::frontier
