#include "process/settle.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "options/jobs.h"
#include "topology/machine.h"
#include "topology/placement.h"
#include "transport/choice.h"
#include "transport/shm.h"

namespace edgewire::process {
namespace {

bool on_one_host(const launch::Bootstrap& bootstrap) {
  const auto& nodes = bootstrap.nodes();
  return std::ranges::all_of(nodes, [&](int node) { return node == nodes[0]; });
}

/// Returns the cards of a process for the others, as transport::CardOffer::pack() gives it; empty where cards
/// are not chosen together. `node`: the NUMA node of its workers.
std::string card_offer(const ProcessOptions& asked, const launch::Bootstrap& bootstrap, int node) {
  if (on_one_host(bootstrap) || !bootstrap.cards_reach_hosts()) return {};
  if (asked.transport != "auto" && (asked.transport != "verbs" || !asked.verbs.device.empty())) return {};
  std::vector<std::string> addresses;
  for (const auto& one : bootstrap.wanted_interfaces()) addresses.push_back(one.address);
  return transport::offer_cards(asked.verbs, addresses, node).pack();
}

/// Chooses the transport as if processes of a host could share memory. `offers`: of card_offer(), by rank.
transport::Choice choose_shared(const ProcessOptions& asked, const launch::Bootstrap& bootstrap,
                                std::span<const std::string> offers) {
  const std::string& transport = asked.transport;
  const std::string& device = asked.verbs.device;
  const bool shared = transport == "auto" || transport.starts_with("shm");
  if (on_one_host(bootstrap)) return {shared ? "shm" : transport, device};
  const auto& nodes = bootstrap.nodes();
  const bool one_each = std::set(nodes.begin(), nodes.end()).size() == nodes.size();
  transport::Choice plain{transport != "auto" ? transport : one_each ? "tcp" : "shm+tcp", device};
  std::vector<transport::CardOffer> cards;
  for (const std::string& offer : offers) {
    if (offer.empty()) return plain;  // not all processes have cards to choose from
    cards.push_back(transport::CardOffer::unpack(offer));
  }
  auto choice = transport::choose_network(cards, nodes, bootstrap.rank());
  if (transport == "auto") return choice;
  return {transport, choice.verbs_device};  // where the device is empty, verbs itself says what is wrong
}

/// Returns why processes of one host cannot share memory, naming two of them; empty if all can. Each tries it
/// with the next one of its host, which finds every border between containers or users. The result is the
/// same in all processes. Collective.
std::string shared_memory_trouble(launch::Bootstrap& bootstrap) {
  std::optional<transport::ShmTrial> trial;
  std::string offer, trouble;
  const int rank = bootstrap.rank();
  try {
    trial.emplace();
    offer = trial->offer();
  } catch (const Error& error) {
    trouble = fmt::format("rank {} {}", rank, error.what());
  }
  const auto offers = bootstrap.allgather(offer);
  const auto& nodes = bootstrap.nodes();
  int next = (rank + 1) % bootstrap.size();
  while (!nodes.empty() && nodes[next] != nodes[rank]) next = (next + 1) % bootstrap.size();
  if (trouble.empty() && next != rank) {
    const std::string cause = transport::ShmTrial::trouble(offers[next]);
    if (!cause.empty())
      trouble = fmt::format("rank {} cannot share memory with rank {}: {}", rank, next, cause);
  }
  for (const std::string& one : bootstrap.allgather(trouble))
    if (!one.empty()) return one;
  return "";
}

void choose_transport(ProcessOptions& options, launch::Bootstrap& bootstrap,
                      std::span<const std::string> offers) {
  const bool shared_wanted = options.transport == "shm";
  if (shared_wanted && !on_one_host(bootstrap))
    throw UsageError(fmt::format("{}: the processes are on several hosts", opt::transport("shm")));
  const auto choice = choose_shared(options, bootstrap, offers);
  options.transport = choice.transport;
  options.transport_reason = choice.reason;
  options.verbs.device = choice.verbs_device;
  options.dpdk = options.dpdk.of(bootstrap.local_rank());
  if (bootstrap.size() == 1 || !choice.transport.starts_with("shm")) return;
  const std::string trouble = shared_memory_trouble(bootstrap);
  if (trouble.empty()) return;
  // A limit that is met has its own remedy, and TCP needs more files.
  const bool limited = trouble.find(": raise it with ") != trouble.npos;
  if (shared_wanted)
    throw Error(trouble +
                (limited ? "" : fmt::format(" ({} or auto goes another way)", opt::transport("tcp"))));
  options.transport = choice.transport == "shm" ? "tcp" : choice.transport.substr(4);
  options.transport_reason += (choice.reason.empty() ? "" : "; ") + ("no shared memory: " + trouble);
  if (options.warn)
    options.warn(fmt::format("{}: {} takes {}", trouble, opt::transport("auto"), options.transport));
}

std::string cores_text(const topology::Machine& machine) {
  const std::size_t cores = machine.cores.size();
  return fmt::format(
      "{} core{}{}", cores, cores == 1 ? "" : "s",
      machine.cpu_quota > 0 ? fmt::format(" with a CPU quota of {:.4g}", machine.cpu_quota) : "");
}

}  // namespace

ProcessOptions settle(const ProcessOptions& asked, launch::Bootstrap& bootstrap) {
  if (asked.workers != 0) check_range(opt::workers, asked.workers);
  ProcessOptions options = asked;
  if (bootstrap.rank() > 0) options.warn = nullptr;
  const auto machine = topology::discover();
  const int cores = topology::usable_cores(machine);
  if (asked.workers == 0) options.workers = std::max(1, cores / bootstrap.local_size());
  std::vector<std::string> offers;
  if (!bootstrap.nodes().empty()) {
    const auto placement =
        topology::place(machine, bootstrap.local_rank(), bootstrap.local_size(), options.workers);
    const std::string offer = card_offer(asked, bootstrap, topology::first_node(placement, machine));
    for (const std::string& others : bootstrap.allgather(fmt::format("{}\n{}", options.workers, offer))) {
      // Hosts may have different numbers of cores.
      if (asked.workers == 0) options.workers = std::min(options.workers, std::stoi(others));
      offers.push_back(others.substr(others.find('\n') + 1));
    }
  }
  choose_transport(options, bootstrap, offers);
  if (options.warn && options.workers * bootstrap.local_size() > cores)
    options.warn(fmt::format("{} workers on {}: they wait for each other",
                             options.workers * bootstrap.local_size(), cores_text(machine)));
  return options;
}

}  // namespace edgewire::process
