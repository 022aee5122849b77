#include "transport/choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>

#include "base/error.h"
#include "topology/placement.h"
#ifdef EDGEWIRE_VERBS
#include "transport/verbs/make_verbs.h"
#endif

namespace edgewire::transport {
namespace {

/// The rails of each rank.
using Rails = std::vector<std::vector<std::string>>;

/// Returns the rate of the slowest of the processes' fastest cards on the network; 0 when one has none.
std::uint64_t common_rate(std::span<const CardOffer> offers, const std::string& network) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (const CardOffer& offer : offers) {
    std::uint64_t best = 0;
    for (const Card& card : offer.cards)
      if (card.network == network) best = std::max(best, card.bits_per_s);
    least = std::min(least, best);
  }
  return least;
}

/// Deals each host's cards on the network to its processes.
Rails deal(std::span<const CardOffer> offers, const std::vector<int>& nodes, const std::string& network) {
  Rails rails(offers.size());
  for (const int host : std::set(nodes.begin(), nodes.end())) {
    std::vector<std::size_t> ranks;
    std::vector<int> process_nodes, card_nodes;
    for (std::size_t p = 0; p < offers.size(); ++p) {
      if (nodes[p] != host) continue;
      ranks.push_back(p);
      process_nodes.push_back(offers[p].node);
    }
    std::vector<const Card*> cards;
    for (const Card& card : offers[ranks[0]].cards) {
      if (card.network != network) continue;
      cards.push_back(&card);
      card_nodes.push_back(card.node);
    }
    const auto dealt = topology::deal_cards(card_nodes, process_nodes);
    for (std::size_t i = 0; i < ranks.size(); ++i)
      for (const int card : dealt[i]) rails[ranks[i]].push_back(cards[card]->device);
  }
  std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const auto& one : rails) most = std::min(most, one.size());
  for (auto& one : rails) one.resize(most);
  return rails;
}

}  // namespace

std::string CardOffer::pack() const {
  std::string text = fmt::format("{} {}\n", node, trouble);
  for (const Card& card : cards)
    text += fmt::format("{} {} {} {}\n", card.device, card.network, card.node, card.bits_per_s);
  return text;
}

CardOffer CardOffer::unpack(const std::string& text) {
  CardOffer offer;
  std::istringstream lines(text);
  std::string line;
  bool good = (lines >> offer.node) && lines.get() == ' ' && std::getline(lines, offer.trouble);
  while (good && std::getline(lines, line)) {
    std::istringstream words(line);
    Card& card = offer.cards.emplace_back();
    good = static_cast<bool>(words >> card.device >> card.network >> card.node >> card.bits_per_s);
  }
  if (!good) throw Error("a process has sent something other than the list of its network cards");
  return offer;
}

CardOffer offer_cards([[maybe_unused]] const VerbsChoice& wanted,
                      [[maybe_unused]] std::span<const std::string> addresses, int node) noexcept {
  CardOffer offer{node};
#ifdef EDGEWIRE_VERBS
  try {
    offer.cards = verbs_cards(wanted, addresses);
  } catch (const std::exception& error) {
    offer.trouble = error.what();
  }
#else
  offer.trouble = "this build has no verbs backend";
#endif
  return offer;
}

Choice choose_network(std::span<const CardOffer> offers, const std::vector<int>& nodes, int rank) {
  const std::set hosts(nodes.begin(), nodes.end());
  const std::string within = hosts.size() == nodes.size() ? "" : "shm+";
  const auto tcp = [&](const std::string& reason) {
    return Choice{within + "tcp", "", "no RDMA between the hosts: " + reason};
  };
  for (std::size_t p = 0; p < offers.size(); ++p)
    if (offers[p].cards.empty()) return tcp(fmt::format("rank {}: {}", p, offers[p].trouble));
  std::map<std::string, std::uint64_t> common;
  std::uint64_t best = 0;
  for (const Card& card : offers[0].cards) {
    const std::uint64_t rate = common_rate(offers, card.network);
    if (rate > 0) common[card.network] = rate;
    best = std::max(best, rate);
  }
  if (common.empty()) {
    std::size_t p = 1;
    const auto network_of_first = [&](const Card& card) {
      return card.network == offers[0].cards[0].network;
    };
    while (p + 1 < offers.size() && std::ranges::any_of(offers[p].cards, network_of_first)) ++p;
    return tcp(fmt::format("{} of rank {} is on {}, {} of rank {} on {}", offers[0].cards[0].device, 0,
                           offers[0].cards[0].network, offers[p].cards[0].device, p,
                           offers[p].cards[0].network));
  }
  Choice choice{within + "verbs", "", "all hosts are on "};
  std::string separator;
  for (const auto& [network, rate] : common) {
    if (rate < best) continue;
    choice.reason += separator + network;
    separator = " and ";
    const Rails rails = deal(offers, nodes, network);
    for (const std::string& device : rails[rank])
      choice.verbs_device += (choice.verbs_device.empty() ? "" : ",") + device;
  }
  return choice;
}

}  // namespace edgewire::transport
