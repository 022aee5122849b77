// This file counts before a run the records that kernels which follow a frontier must send.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bounds/bound.h"
#include "edgewire/graph.h"
#include "kernels/count/count.h"

namespace edgewire::bounds {

struct FrontierBound {
  struct Superstep {
    std::string phase;  ///< phase that the run report names
    std::uint64_t frontier = 0;
    /// Bytes of records, summed over processes, as the run report counts them.
    std::uint64_t record_bytes = 0;
    std::uint64_t record_bytes_max = 0;  ///< record bytes of the process and direction with the most
  };
  int processes = 1;
  std::string ownership;
  kernels::Exactness exactness = kernels::Exactness::exact;
  std::vector<Superstep> supersteps;
  std::uint64_t record_bytes = 0;
  std::uint64_t memory_bytes = 0;  ///< memory of a process, see frontier_memory()
  /// Sum over the supersteps, by rate, of the time of the most loaded process, sending and receiving at once.
  std::vector<double> seconds_at;
};

/// Counts for the processes, ownerships (hash, ranges, partition files), rates and framing of `options`. It
/// takes 20 bytes a vertex, and 16 for each process and superstep, beside count_shares(). Throws Error.
std::vector<FrontierBound> frontier_bound(const Graph& graph, const kernels::FrontierCount& count,
                                          const BoundOptions& options, const Progress& progress = {});

/// Returns the bounds as text for people, ending with a newline.
std::string to_text(const std::vector<FrontierBound>& bounds, const BoundOptions& options);
/// Returns {"rows": [...]}.
std::string to_json(const std::vector<FrontierBound>& bounds, const BoundOptions& options);

}  // namespace edgewire::bounds
