#include "exchange/seat.h"

#include <fmt/core.h>
#include <unistd.h>

#include "exchange/ring.h"
#include "topology/placement.h"

namespace edgewire::exchange {

/// Of the host list's addresses a process takes that of its card.
HostPlace find_place(launch::Bootstrap& bootstrap, const topology::WorkerPool& pool,
                     const topology::Machine& machine) {
  HostPlace place;
  place.memory_nodes = topology::nodes_of(pool.placement(), machine);
  const auto& hosts = bootstrap.nodes();
  const auto rank = static_cast<std::size_t>(bootstrap.rank());
  const auto nodes = bootstrap.allgather(std::to_string(topology::first_node(pool.placement(), machine)));
  for (std::size_t p = 0; p < nodes.size(); ++p) {
    if (!hosts.empty() && hosts[p] != hosts[rank]) continue;
    if (p == rank) place.process_index = static_cast<int>(place.process_nodes.size());
    place.process_nodes.push_back(std::stoi(nodes[p]));
  }
  const auto& interfaces = bootstrap.wanted_interfaces();
  std::vector<int> card_nodes;
  for (const auto& one : interfaces) card_nodes.push_back(topology::node_of_card(one.name));
  const int card =
      topology::share_cards(card_nodes, place.process_nodes)[static_cast<std::size_t>(place.process_index)];
  place.address = card >= 0 ? interfaces[static_cast<std::size_t>(card)].address : bootstrap.address();
  const auto spare = topology::spare_cpus(machine, bootstrap.local_size(), pool.workers());
  if (spare.size() >= static_cast<std::size_t>(bootstrap.local_size()))
    place.poll_cpu = spare[static_cast<std::size_t>(bootstrap.local_rank())];
  char name[256] = "?";
  gethostname(name, sizeof name - 1);
  place.text = fmt::format("{}: {}", name, topology::describe(pool.placement(), machine));
  if (!hosts.empty()) place.text += "; network " + place.address;
  return place;
}

transport::Settings link_settings(launch::Bootstrap& bootstrap, const HostPlace& place,
                                  const transport::VerbsChoice& verbs, const transport::DpdkChoice& dpdk) {
  transport::Settings settings;
  settings.rank = bootstrap.rank();
  settings.size = bootstrap.size();
  settings.secret = bootstrap.secret();
  settings.address = place.address;
  settings.process_nodes = place.process_nodes;
  settings.process_index = place.process_index;
  settings.memory_nodes = place.memory_nodes;
  settings.health = &bootstrap.health();
  settings.nodes = bootstrap.nodes();
  settings.verbs = verbs;
  settings.verbs.poll_cpu = place.poll_cpu;
  settings.dpdk = dpdk;
  settings.dpdk.poll_cpu = place.poll_cpu;
  return settings;
}

Seat::Seat(launch::Bootstrap& bootstrap, const SeatOptions& options) {
  const auto machine = topology::discover();
  pool_ = std::make_unique<topology::WorkerPool>(
      topology::place(machine, bootstrap.local_rank(), bootstrap.local_size(), options.workers));
  const HostPlace place = find_place(bootstrap, *pool_, machine);
  place_ = place.text;
  auto settings = link_settings(bootstrap, place, options.verbs, options.dpdk);
  settings.lanes = options.workers;
  settings.kinds = kinds_for_rings(options.workers);
  settings.peer_timeout_s = options.peer_timeout_s;
  settings.integrity = options.integrity;
  link_ = transport::create(options.transport, settings);
}

Seat::Seat(launch::Bootstrap& alone)
    : pool_(std::make_unique<topology::WorkerPool>(
          topology::Placement{.workers = std::vector<topology::WorkerPlace>(1)})) {
  transport::Settings settings;
  settings.secret = alone.secret();
  settings.health = &alone.health();
  settings.kinds = kinds_for_rings(1);
  link_ = transport::create("shm", settings);
}

}  // namespace edgewire::exchange
