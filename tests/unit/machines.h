// Machines that are made up.
#pragma once

#include <vector>

#include "topology/machine.h"

namespace edgewire::topology {

/// Returns a machine with these many cores on each node, cpu 0 being the first.
inline Machine with_cores(const std::vector<int>& cores_of_node) {
  Machine machine;
  for (int node = 0, cpu = 0; const int cores : cores_of_node) {
    machine.nodes.push_back({node, 1 << 30});
    for (int i = 0; i < cores; ++i) machine.cores.push_back({cpu++, node, node});
    ++node;
  }
  return machine;
}

}  // namespace edgewire::topology
