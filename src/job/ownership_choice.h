// `--ownership auto`: counts what each way of owning vertices costs on this graph, and takes the cheapest.
#pragma once

#include <string>
#include <vector>

#include "graph/graph_file.h"
#include "launch/bootstrap.h"
#include "plan/volume.h"
#include "topology/worker_pool.h"

namespace edgewire::job {

struct OwnershipCosts {
  double link_bytes_per_s = 0;  ///< of a process
  double edges_per_s = 0;       ///< of a process
  std::uint64_t value_bytes = 4;
};

struct OwnershipChoice {
  std::string ownership;  ///< as plan::Ownership::create
  std::string table;      ///< one line for each candidate, the best one marked
};

/// Rank 0 counts distinct destinations (strategy `slots`) and edges of each process exactly, in one pass over
/// the graph for each candidate; the best one has the shortest time of sending or computing, whichever is
/// longer, of its most loaded process. It counts on all cores that the maker of `pool` could use. Collective;
/// throws Error.
OwnershipChoice choose_ownership(launch::Bootstrap& bootstrap, const topology::WorkerPool& pool,
                                 const graph::GraphFile& graph, const std::vector<std::string>& candidates,
                                 const OwnershipCosts& costs);

}  // namespace edgewire::job
