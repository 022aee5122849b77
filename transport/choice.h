// Which network the processes of a job use between their hosts, chosen before any of them opens one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "transport/transport.h"

namespace edgewire::transport {

/// A port of an RDMA device that could be used.
struct Card {
  std::string device;   ///< as VerbsChoice::device takes it
  std::string network;  ///< what it reaches without a router: "10.8.0.0/24", an InfiniBand subnet
  int node = -1;        ///< NUMA node (operating-system number), -1: unknown
  std::uint64_t bits_per_s = 0;

  bool operator==(const Card&) const = default;
};

/// What a process tells all others of its cards.
struct CardOffer {
  int node = -1;          ///< NUMA node of the process
  std::string trouble{};  ///< one line: why there are no cards
  std::vector<Card> cards{};

  std::string pack() const;
  /// Throws Error when `text` is no offer.
  static CardOffer unpack(const std::string& text);
  bool operator==(const CardOffer&) const = default;
};

/// The cards of this host whose port is active: those that `wanted` names, else those that have one of the
/// `addresses`, or any when there are none. Never throws: the offer says what is wrong.
CardOffer offer_cards(const VerbsChoice& wanted, std::span<const std::string> addresses, int node) noexcept;

struct Choice {
  std::string transport;
  std::string verbs_device{};  ///< of the process that asks
  std::string reason{};        ///< one line; empty: there was nothing to choose
};

/// For a job on several hosts: verbs when every process has a card on a network that all share, on the
/// fastest of such networks, with as many cards (rails) for each process as everyone has; else tcp. The
/// reason names the first process that keeps the job from verbs. Processes of one host ([p] == [q] of
/// `nodes`) share its cards by nearness and memory with each other. The same in all processes but for
/// verbs_device.
Choice choose_network(std::span<const CardOffer> offers, const std::vector<int>& nodes, int rank);

}  // namespace edgewire::transport
