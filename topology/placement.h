// Says on which core each worker runs, and from which node its memory comes.
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
  /// Whether the host has more workers than usable cores: they are then not pinned, and block when they wait.
  bool oversubscribed = false;
  /// Why there are too few cores, when other jobs are the cause; else empty.
  std::string reason{};
};

/// Places the workers of one process, that with rank `local_rank` among `local_size` equal processes here.
/// Each worker gets a core, if there are as many usable_cores(), on as few nodes for a process as possible.
Placement place(const Machine& machine, int local_rank, int local_size, int workers);

/// Places such workers on no core, and their memory in turns on the nodes.
Placement unpinned(const Machine& machine, int local_rank, int local_size, int workers,
                   const std::string& reason = {});

/// Returns "0-3,8" for {0, 1, 2, 3, 8}. It keeps the given order.
std::string to_ranges(const std::vector<int>& numbers);
/// Returns a text as "2 workers on cores 0-1; memory on node 0", with numbers of the operating system.
std::string describe(const Placement& placement, const Machine& machine);

/// Returns the nodes of the workers by operating-system number, each once, in the order of the workers.
std::vector<int> nodes_of(const Placement& placement, const Machine& machine);
/// Returns the node of the first worker, by operating-system number: where a process looks for near cards.
int first_node(const Placement& placement, const Machine& machine);

/// Shares the network cards of a machine among its processes. `card_nodes`, `process_nodes`: operating-system
/// numbers, -1: unknown. Result[process] is the card on its node that the fewest earlier processes have. Then
/// processes without one take the cards with the fewest users. -1: there are no cards.
std::vector<int> share_cards(std::span<const int> card_nodes, std::span<const int> process_nodes);
/// Does the same as share_cards(), but gives each card that nobody has to the process on its node with the
/// fewest cards; if there is none, to that with the fewest of all. If there are cards, no result is empty.
std::vector<std::vector<int>> deal_cards(std::span<const int> card_nodes, std::span<const int> process_nodes);
/// Cores, by operating-system number, that no worker of `local_size` processes with `workers` each gets.
std::vector<int> spare_cpus(const Machine& machine, int local_size, int workers);

/// Binds the calling thread to its place, if it has one. Returns false when the system refuses.
bool pin_this_thread(const WorkerPlace& place);

}  // namespace edgewire::topology
