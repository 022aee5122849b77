// Which worker goes to which core, and its memory to which node.
#pragma once

#include <span>
#include <string>
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

/// "0-3,8" for {0, 1, 2, 3, 8}; the numbers as they come.
std::string to_ranges(const std::vector<int>& numbers);
/// "2 workers on cores 0-1; memory on node 0", with numbers of the operating system.
std::string describe(const Placement& placement, const Machine& machine);

/// The node of the first worker, by operating-system number: where a process looks for near cards.
int first_node(const Placement& placement, const Machine& machine);

/// Shares the network cards of a machine among its processes. Nodes of cards and processes are numbers of the
/// operating system, -1: unknown. Result[process] is the card on its node that the fewest processes before it
/// have; those without one on their node then take, of all cards, those with the fewest. -1: no cards.
std::vector<int> share_cards(std::span<const int> card_nodes, std::span<const int> process_nodes);
/// The same when a process may use several: the cards that nobody has then go, one by one, to the process on
/// their node with the fewest, or to the one with the fewest of all. Result[process] is never empty where
/// there are cards.
std::vector<std::vector<int>> deal_cards(std::span<const int> card_nodes, std::span<const int> process_nodes);
/// Cores that no worker of `local_size` such processes gets, by operating-system number.
std::vector<int> spare_cpus(const Machine& machine, int local_size, int workers);

/// Binds the calling thread to its place; does nothing when it is not pinned. False when the system refuses.
bool pin_this_thread(const WorkerPlace& place);

}  // namespace edgewire::topology
