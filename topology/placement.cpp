#include "topology/placement.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <memory>

namespace edgewire::topology {
namespace {

/// Takes up to `count` free cores of a node.
void take(const Machine& machine, std::vector<std::vector<int>>& free, int node, std::size_t count,
          std::vector<WorkerPlace>& places) {
  auto& cores = free[node];
  count = std::min(count, cores.size());
  for (std::size_t i = 0; i < count; ++i) places.push_back({machine.cores[cores[i]].cpu, node});
  cores.erase(cores.begin(), cores.begin() + static_cast<std::ptrdiff_t>(count));
}

}  // namespace

Placement unpinned(const Machine& machine, int local_rank, int local_size, int workers,
                   const std::string& reason) {
  const auto nodes = static_cast<std::int64_t>(machine.nodes.size());
  Placement placement;
  placement.oversubscribed = true;
  placement.reason = reason;
  placement.workers.assign(workers, {-1, static_cast<int>(local_rank * nodes / local_size)});
  return placement;
}

Placement place(const Machine& machine, int local_rank, int local_size, int workers) {
  if (static_cast<std::int64_t>(workers) * local_size > usable_cores(machine))
    return unpinned(machine, local_rank, local_size, workers);

  Placement placement;
  const auto wanted = static_cast<std::size_t>(workers);

  std::vector<std::vector<int>> free(machine.nodes.size());
  for (std::size_t i = 0; i < machine.cores.size(); ++i)
    free[machine.cores[i].node].push_back(static_cast<int>(i));
  // Every process walks through all of them in the same order, so that all agree. The emptiest node first: it
  // spreads processes over nodes, and a process spans nodes only when it fits in none.
  for (int rank = 0; rank <= local_rank; ++rank) {
    placement.workers.clear();
    while (placement.workers.size() < wanted) {
      const auto emptiest = std::ranges::max_element(free, {}, &std::vector<int>::size);
      take(machine, free, static_cast<int>(emptiest - free.begin()), wanted - placement.workers.size(),
           placement.workers);
    }
  }
  return placement;
}

std::string to_ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
    first = last + 1;
  }
  return text;
}

std::string describe(const Placement& placement, const Machine& machine) {
  std::vector<int> cpus;
  for (const auto& worker : placement.workers) cpus.push_back(worker.cpu);
  const std::string reason = placement.reason.empty() ? "" : fmt::format(" ({})", placement.reason);
  return fmt::format("{} worker{} on {}; memory on node {}", cpus.size(), cpus.size() == 1 ? "" : "s",
                     placement.oversubscribed ? "any core" + reason : "cores " + to_ranges(cpus),
                     to_ranges(nodes_of(placement, machine)));
}

std::vector<int> nodes_of(const Placement& placement, const Machine& machine) {
  std::vector<int> nodes;
  for (const auto& worker : placement.workers) {
    const int node = machine.nodes[worker.node].os_index;
    if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
  }
  return nodes;
}

int first_node(const Placement& placement, const Machine& machine) {
  return machine.nodes[placement.workers[0].node].os_index;
}

std::vector<int> share_cards(std::span<const int> card_nodes, std::span<const int> process_nodes) {
  std::vector<int> card_of(process_nodes.size(), -1);
  std::vector<int> users(card_nodes.size());
  for (const bool near : {true, false}) {
    for (std::size_t process = 0; process < card_of.size(); ++process) {
      int& chosen = card_of[process];
      if (chosen >= 0) continue;
      for (std::size_t card = 0; card < users.size(); ++card) {
        const bool suits = !near || (card_nodes[card] >= 0 && card_nodes[card] == process_nodes[process]);
        if (suits && (chosen < 0 || users[card] < users[chosen])) chosen = static_cast<int>(card);
      }
      if (chosen >= 0) ++users[chosen];
    }
  }
  return card_of;
}

std::vector<std::vector<int>> deal_cards(std::span<const int> card_nodes,
                                         std::span<const int> process_nodes) {
  std::vector<std::vector<int>> cards_of(process_nodes.size());
  std::vector<bool> taken(card_nodes.size());
  const auto first = share_cards(card_nodes, process_nodes);
  for (std::size_t process = 0; process < first.size(); ++process) {
    if (first[process] < 0) continue;
    cards_of[process].push_back(first[process]);
    taken[first[process]] = true;
  }
  for (std::size_t card = 0; card < taken.size() && !cards_of.empty(); ++card) {
    if (taken[card]) continue;
    std::size_t chosen = cards_of.size();
    for (const bool near : {true, false}) {
      if (chosen < cards_of.size()) break;
      for (std::size_t process = 0; process < cards_of.size(); ++process) {
        if (near && (card_nodes[card] < 0 || card_nodes[card] != process_nodes[process])) continue;
        if (chosen == cards_of.size() || cards_of[process].size() < cards_of[chosen].size()) chosen = process;
      }
    }
    cards_of[chosen].push_back(static_cast<int>(card));
  }
  return cards_of;
}

std::vector<int> spare_cpus(const Machine& machine, int local_size, int workers) {
  std::vector<int> spare;
  for (const Core& core : machine.cores) spare.push_back(core.cpu);
  for (int rank = 0; rank < local_size; ++rank) {
    const Placement placement = place(machine, rank, local_size, workers);
    if (placement.oversubscribed) return {};
    for (const WorkerPlace& worker : placement.workers) std::erase(spare, worker.cpu);
  }
  return spare;
}

bool pin_this_thread(const WorkerPlace& place) {
  if (place.cpu < 0) return true;
  const auto cpus = static_cast<std::size_t>(place.cpu) + 1;
  const auto destroy = [](cpu_set_t* set) { CPU_FREE(set); };
  const std::unique_ptr<cpu_set_t, decltype(destroy)> set(CPU_ALLOC(cpus), destroy);
  if (set == nullptr) return false;
  CPU_ZERO_S(CPU_ALLOC_SIZE(cpus), set.get());
  CPU_SET_S(static_cast<std::size_t>(place.cpu), CPU_ALLOC_SIZE(cpus), set.get());
  return sched_setaffinity(0, CPU_ALLOC_SIZE(cpus), set.get()) == 0;
}

}  // namespace edgewire::topology
