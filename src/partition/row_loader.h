// This file gets a process the rows of its vertices: from the graph file, or from the processes that have
// read them.
#pragma once

#include <string>

#include "edgewire/graph.h"
#include "edgewire/options.h"
#include "launch/bootstrap.h"
#include "partition/owned_rows.h"
#include "partition/ownership.h"
#include "process/local_process.h"

namespace edgewire::partition {

/// Does the same as Ownership::create(). Where rows are missing on a host, processes tell each
/// other where ranges begin. It verifies the offsets that it looks at. Collective; throws Error.
Ownership make_ownership(launch::Bootstrap& bootstrap, const Graph& graph, const std::string& how);

/// The parts of rows that are needed.
struct RowContent {
  bool targets = true;                         ///< whether to load targets; else degrees alone
  bool weights = false;                        ///< whether to load weights, beside targets
  RowReading reading = RowReading::automatic;  ///< way of reading, the same in all processes
};

/// Returns the rows of the vertices of this process. They stay in the file, and are not verified, where each
/// process finds its own rows on its host and they are a range of the file, or `content.reading` says so.
/// Else each process reads a share of the file, each row is read once in all, and verified, and sent to its
/// owner through a link of its own. Memory then: an id for each edge of the process, its weight, and 12 bytes
/// for each owned vertex, 4 of which are given back, and that of RecordStream. Collective, while workers
/// rest; throws Error. `ownership`: the same in all processes, as is `content`.
OwnedRows load_rows(launch::Bootstrap& bootstrap, process::LocalProcess& process, const Graph& graph,
                    const Ownership& ownership, const RowContent& content);

}  // namespace edgewire::partition
