// Which worker goes to which core, and its memory to which node.
#pragma once

#include <vector>

#include "topology/machine.h"

namespace edgewire::topology {

struct WorkerPlace {
  int cpu = -1;  ///< operating-system number, -1: not pinned
  int node = 0;  ///< index into Machine::nodes
};

struct Placement {
  std::vector<WorkerPlace> workers;
  /// More workers on the host than cores: workers are not pinned and wait by blocking.
  bool oversubscribed = false;
};

/// Places the workers of the process with rank `local_rank` of `local_size` equal processes on this machine:
/// one worker a core; a process stays within one node, or within as few as possible.
Placement place(const Machine& machine, int local_rank, int local_size, int workers);

/// Cores that no worker of `local_size` such processes gets, by operating-system number.
std::vector<int> spare_cpus(const Machine& machine, int local_size, int workers);

/// Binds the calling thread to its place; does nothing when it is not pinned. False when the system refuses.
bool pin_this_thread(const WorkerPlace& place);

}  // namespace edgewire::topology
