#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "transport/dpdk/frame_port.h"

struct rte_eth_conf;
struct rte_eth_dev_info;

namespace edgewire::transport::dpdk {

/// An exception that is thrown and caught in the plug-in alone.
struct Trouble : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Returns whether this names a card, and not a virtual device. More may follow the address, behind a comma.
bool is_pci(const std::string& port);
/// Returns the MTU that is wanted of a card: `mtu=` behind its address.
std::uint16_t card_mtu(const std::string& port);
/// Throws Trouble when the card cannot be used.
void check_card(const std::string& port);
/// Starts DPDK's environment, once in a process, for frames of this size. Throws Trouble.
void start_environment(const PortOptions& options, std::uint32_t frame_bytes);
/// Returns the first thing that DPDK has complained of since the last call; empty when it has not.
std::string take_complaint();

/// Returns how many queues, each way, a port gets: one for each lane where it has so many.
std::uint16_t queues_for(const rte_eth_dev_info& info, int lanes);
/// Asks for RSS in `wanted` where it can spread our frames over the queues; false when it cannot.
bool choose_hash(const rte_eth_dev_info& info, std::uint16_t queues, bool udp, rte_eth_conf& wanted);
/// Adds rules to a port that was started, where it takes some; says in words what spreads our frames.
std::string steer(std::uint16_t port, std::uint16_t queues, const PortOptions& options, bool hashed);

}  // namespace edgewire::transport::dpdk
