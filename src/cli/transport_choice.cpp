// This file chooses the transport that the processes of a job take, where the user leaves it open.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "cli/job_options.h"
#include "process/shared_memory.h"

namespace edgewire::cli {

namespace {

bool on_one_host(const launch::Bootstrap& bootstrap) {
  const auto& nodes = bootstrap.nodes();
  return std::ranges::all_of(nodes, [&](int node) { return node == nodes[0]; });
}

}  // namespace

std::string card_offer(const std::string& transport, const transport::VerbsChoice& verbs, bool local_hosts,
                       const launch::Bootstrap& bootstrap, int node) {
  // The cards of this machine are not behind the links of its local hosts.
  if (on_one_host(bootstrap) || local_hosts) return {};
  if (transport != "auto" && (transport != "verbs" || !verbs.device.empty())) return {};
  std::vector<std::string> addresses;
  for (const auto& one : bootstrap.wanted_interfaces()) addresses.push_back(one.address);
  return transport::offer_cards(verbs, addresses, node).pack();
}

namespace {

/// Chooses as choose_transport() does, where all processes of a host can share memory.
transport::Choice choose_shared(const std::string& transport, const transport::VerbsChoice& verbs,
                                const launch::Bootstrap& bootstrap, std::span<const std::string> offers) {
  if (on_one_host(bootstrap)) return {transport == "auto" ? "shm" : transport, verbs.device};
  const auto& nodes = bootstrap.nodes();
  const bool one_each = std::set(nodes.begin(), nodes.end()).size() == nodes.size();
  transport::Choice plain{transport != "auto" ? transport : one_each ? "tcp" : "shm+tcp", verbs.device};
  std::vector<transport::CardOffer> cards;
  for (const std::string& offer : offers) {
    if (offer.empty()) return plain;  // there is nothing to choose, or not for all
    cards.push_back(transport::CardOffer::unpack(offer));
  }
  auto choice = transport::choose_network(cards, nodes, bootstrap.rank());
  if (transport == "auto") return choice;
  return {transport, choice.verbs_device};  // empty: verbs itself says what is wrong
}

}  // namespace

transport::Choice choose_transport(const std::string& transport, const transport::VerbsChoice& verbs,
                                   launch::Bootstrap& bootstrap, std::span<const std::string> offers) {
  if (transport == "shm" && !on_one_host(bootstrap))
    throw UsageError("--transport shm: the processes are on several hosts");
  auto choice = choose_shared(transport, verbs, bootstrap, offers);
  if (bootstrap.size() == 1 || !choice.transport.starts_with("shm")) return choice;
  const std::string trouble = process::shared_memory_trouble(bootstrap);
  if (trouble.empty()) return choice;
  // A limit that is met has its own remedy, and TCP needs more files.
  const bool limited = trouble.find("(raise the limit") != trouble.npos;
  if (transport == "shm")
    throw Error(trouble + (limited ? "" : " (--transport tcp or auto goes another way)"));
  choice.transport = choice.transport == "shm" ? "tcp" : choice.transport.substr(4);
  choice.reason += (choice.reason.empty() ? "" : "; ") + ("no shared memory: " + trouble);
  if (bootstrap.rank() == 0)
    note(fmt::format("warning: {}: --transport auto takes {}", trouble, choice.transport));
  return choice;
}

}  // namespace edgewire::cli
