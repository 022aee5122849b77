// Chooses the network that the processes of a job use between their hosts, before any of them opens a card.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transport/transport.h"

namespace edgewire::transport {

/// A port of an RDMA device that could be used.
struct Card {
  std::string device;   ///< name as VerbsChoice::device takes it
  std::string network;  ///< network that it reaches without a router: "10.8.0.0/24", an InfiniBand subnet
  int node = -1;        ///< NUMA node (operating-system number), -1: unknown
  std::uint64_t bits_per_s = 0;

  bool operator==(const Card&) const = default;
};

/// The facts that a process tells all others about its cards.
struct CardOffer {
  int node = -1;          ///< NUMA node of the process
  std::string trouble{};  ///< reason in one line why there are no cards
  std::vector<Card> cards{};

  std::string pack() const;
  /// Throws Error when `text` is no offer.
  static CardOffer unpack(const std::string& text);
  bool operator==(const CardOffer&) const = default;
};

/// Returns the cards of this host that have an active port: those that `wanted` names, else those with one of
/// the `addresses`, or all cards if `addresses` is empty. It never throws: the offer says what is wrong.
CardOffer offer_cards(const VerbsChoice& wanted, std::span<const std::string> addresses, int node) noexcept;

struct Choice {
  std::string transport;
  std::string verbs_device{};  ///< devices of the process that asks
  std::string reason{};        ///< reason in one line; empty: there was nothing to choose
};

/// Chooses the network of a job on several hosts. It chooses verbs if all processes have a card on a common
/// network, else tcp; the reason then names the first process without such a card. With verbs it takes the
/// fastest common networks, and equally many cards (rails) for each process. Processes of one host (nodes[p]
/// == nodes[q]) share its cards by nearness, and use shared memory with each other. All processes get the
/// same result, except for verbs_device.
Choice choose_network(std::span<const CardOffer> offers, const std::vector<int>& nodes, int rank);

}  // namespace edgewire::transport
