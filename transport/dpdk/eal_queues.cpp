// This file decides which of a port's queues our frames come in by.
#include <fmt/core.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "transport/dpdk/eal.h"

namespace edgewire::transport::dpdk {
namespace {

constexpr std::uint64_t kUdpHash = RTE_ETH_RSS_NONFRAG_IPV4_UDP;

bool add_rule(std::uint16_t port, std::span<const rte_flow_item> pattern, std::uint16_t queue) {
  rte_flow_attr attributes{};
  attributes.ingress = 1;
  const rte_flow_action_queue to{queue};
  const std::array<rte_flow_action, 2> actions{
      {{RTE_FLOW_ACTION_TYPE_QUEUE, &to}, {RTE_FLOW_ACTION_TYPE_END, nullptr}}};
  rte_flow_error error{};
  return rte_flow_create(port, &attributes, pattern.data(), actions.data(), &error) != nullptr;
}

/// Adds rules by source port, which tells lanes apart.
bool add_lane_rules(std::uint16_t port, std::uint16_t queues, int lanes) {
  const rte_flow_item_ipv4 any_address{};
  rte_flow_item_udp mask{};
  mask.hdr.src_port = mask.hdr.dst_port = 0xFFFF;
  for (int lane = 0; lane < lanes; ++lane) {
    rte_flow_item_udp udp{};
    udp.hdr.src_port = rte_cpu_to_be_16(udp_source(lane));
    udp.hdr.dst_port = rte_cpu_to_be_16(kUdpPort);
    const std::array<rte_flow_item, 4> pattern{
        {{RTE_FLOW_ITEM_TYPE_ETH, nullptr, nullptr, nullptr},
         {RTE_FLOW_ITEM_TYPE_IPV4, &any_address, nullptr, &any_address},
         {RTE_FLOW_ITEM_TYPE_UDP, &udp, nullptr, &mask},
         {RTE_FLOW_ITEM_TYPE_END, nullptr, nullptr, nullptr}}};
    if (!add_rule(port, pattern, static_cast<std::uint16_t>(lane % queues))) return false;
  }
  return true;
}

bool add_ethernet_rule(std::uint16_t port) {
  rte_flow_item_eth type{}, mask{};
  type.type = rte_cpu_to_be_16(kEtherType);
  mask.type = 0xFFFF;
  const std::array<rte_flow_item, 2> pattern{
      {{RTE_FLOW_ITEM_TYPE_ETH, &type, nullptr, &mask}, {RTE_FLOW_ITEM_TYPE_END, nullptr, nullptr, nullptr}}};
  return add_rule(port, pattern, 0);
}

/// Makes RSS give each lane a queue of its own. The lowest bits of a Toeplitz hash whose key has a single bit
/// set are consecutive bits of its input: here the lowest ones of the source port, the last one first.
bool hash_by_lane(std::uint16_t port, std::uint16_t queues) {
  rte_eth_dev_info info{};
  if (rte_eth_dev_info_get(port, &info) != 0 || info.hash_key_size < 16 ||
      !std::has_single_bit(info.reta_size) || info.reta_size > 1024)
    return false;
  const auto bits = static_cast<unsigned>(std::countr_zero(info.reta_size));
  std::vector<rte_eth_rss_reta_entry64> table(
      std::max<std::size_t>(info.reta_size / RTE_ETH_RETA_GROUP_SIZE, 1));
  for (unsigned i = 0; i < info.reta_size; ++i) {
    unsigned lane = 0;
    for (unsigned bit = 0; bit < bits; ++bit) lane |= (i >> bit & 1) << (bits - 1 - bit);
    auto& group = table[i / RTE_ETH_RETA_GROUP_SIZE];
    group.mask |= 1ULL << i % RTE_ETH_RETA_GROUP_SIZE;
    group.reta[i % RTE_ETH_RETA_GROUP_SIZE] = static_cast<std::uint16_t>(lane % queues);
  }
  static_assert(kFirstUdpSource % 1024 == 0);
  // Last bit of the source port, which follows the addresses.
  constexpr unsigned kLastBit = 8 * (4 + 4 + 2) - 1;
  const unsigned set = kLastBit + 32 - bits;
  std::vector<std::uint8_t> key(info.hash_key_size);
  key[set / 8] = static_cast<std::uint8_t>(0x80U >> set % 8);
  rte_eth_rss_conf hash{key.data(), info.hash_key_size, kUdpHash};
  return rte_eth_dev_rss_reta_update(port, table.data(), info.reta_size) == 0 &&
         rte_eth_dev_rss_hash_update(port, &hash) == 0;
}

}  // namespace

std::uint16_t queues_for(const rte_eth_dev_info& info, int lanes) {
  const int most = std::min({int{info.max_rx_queues}, int{info.max_tx_queues}, int{kMostQueues}});
  // This driver's queues are there from the start, and frames come in by all of them.
  const bool all = std::string_view(info.driver_name) == "net_af_packet";
  return static_cast<std::uint16_t>(std::clamp(all ? most : lanes, 1, std::max(most, 1)));
}

bool choose_hash(const rte_eth_dev_info& info, std::uint16_t queues, bool udp, rte_eth_conf& wanted) {
  if (queues == 1 || !udp || (info.flow_type_rss_offloads & kUdpHash) == 0) return false;
  wanted.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
  wanted.rx_adv_conf.rss_conf.rss_hf = kUdpHash;
  return true;
}

std::string steer(std::uint16_t port, std::uint16_t queues, const PortOptions& options, bool hashed) {
  const bool ruled = options.udp ? add_lane_rules(port, queues, options.lanes) : add_ethernet_rule(port);
  if (!ruled) {
    rte_flow_error error{};
    rte_flow_flush(port, &error);
  }
  const bool by_lane = !ruled && hashed && hash_by_lane(port, queues);
  take_complaint();
  if (queues == 1) return ruled ? "one queue, by a flow rule" : "one queue";
  return fmt::format("{} queues, {}", queues,
                     ruled && options.udp ? "a flow rule for each lane"
                     : ruled              ? "the first one by a flow rule"
                     : by_lane            ? "RSS by lane"
                     : hashed             ? "spread by RSS"
                                          : "spread by the driver");
}

}  // namespace edgewire::transport::dpdk
