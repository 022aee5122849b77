// The plug-in: all that needs DPDK. It is a shared object of its own, because DPDK's inline functions are
// compiled for processors of their own choice, and because the program must start where DPDK is absent.
#include <fmt/core.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "options/jobs.h"
#include "transport/dpdk/eal.h"
#include "transport/dpdk/frame_port.h"

namespace edgewire::transport::dpdk {
namespace {

constexpr std::uint16_t kDescriptors = 1024, kLeastDescriptors = 128;  ///< in all queues; least of one
constexpr std::size_t kBurst = 64;
constexpr std::size_t kBufferMemory = std::size_t{24} << 20;  ///< bytes for the buffers of incoming frames
/// The room for the head of a frame whose payload lies elsewhere.
constexpr std::uint32_t kHeadRoom = RTE_PKTMBUF_HEADROOM + kMostHeadBytes + kAckBytes;

constexpr std::uint32_t kFrameOverhead = 64;  ///< most bytes that a card puts around what its MTU counts
constexpr std::uint32_t kRoomUnit = 1024;     ///< unit of cards' receive buffers
constexpr int kLinkTries = 90;                ///< tries of comes_up(): it waits as long as DPDK does

/// Returns the MTU of a network interface here; 0 when there is none.
std::uint32_t mtu_of(const std::string& interface) {
  ifreq answer;
  return ask_interface(interface, SIOCGIFMTU, answer) ? static_cast<std::uint32_t>(answer.ifr_mtu) : 0;
}

/// Adds the virtual devices' rings, with room for as much as the interface carries.
std::string with_defaults(const PortOptions& options) {
  std::string port = options.port;
  if (!port.starts_with("net_af_packet")) return port;
  const std::uint32_t mtu = mtu_of(argument(port, "iface"));
  if (argument(port, "framesz").empty() && argument(port, "blocksz").empty())
    port += mtu > 1900 ? ",framesz=16384,blocksz=65536" : ",framesz=2048,blocksz=65536";
  if (argument(port, "framecnt").empty()) port += mtu > 1900 ? ",framecnt=512" : ",framecnt=2048";
  return port;
}

std::uint16_t find_port(const std::string& port) {
  rte_dev_iterator iterator;
  std::uint16_t id = RTE_MAX_ETHPORTS;
  std::uint16_t found = RTE_MAX_ETHPORTS;
  const std::string name = port.substr(0, port.find(','));
  RTE_ETH_FOREACH_MATCHING_DEV(id, name.c_str(), &iterator) {
    if (found == RTE_MAX_ETHPORTS) found = id;
  }
  return found;
}

class EalPort final : public FramePort {
 public:
  explicit EalPort(const PortOptions& options) {
    const std::string port = with_defaults(options);
    if (!is_pci(port) && !port.starts_with("net_"))
      throw Trouble(
          fmt::format("'{}' is neither a PCI address (0000:01:00.0) nor a virtual device "
                      "(net_af_packet0,iface=eth0)",
                      port));
    const std::string frame_size = argument(port, "framesz");
    auto frame_bytes = static_cast<std::uint32_t>(frame_size.empty() ? 2048 : std::atoi(frame_size.c_str()));
    if (is_pci(port))
      frame_bytes = std::max<std::uint32_t>(
          frame_bytes, (card_mtu(port) + kFrameOverhead + kRoomUnit - 1) / kRoomUnit * kRoomUnit);
    const std::string interface =
        port.starts_with("net_af_") ? argument(port, "iface") : "";  // others make it
    if (!interface.empty() && mtu_of(interface) == 0)
      throw Trouble(fmt::format("there is no network interface '{}'", interface));
    if (is_pci(port)) check_card(port);
    start_environment(options, frame_bytes);
    if (!is_pci(port)) {
      const int error = rte_dev_probe(port.c_str());
      if (error != 0) refuse(options.port, error);
    }
    id_ = find_port(port);
    if (id_ == RTE_MAX_ETHPORTS) {
      refuse(options.port, is_pci(port) ? ENODEV : ENOENT);
    }
    open(options, port, std::max<std::uint32_t>(frame_bytes, 2048));
  }

  ~EalPort() override {
    rte_eth_dev_stop(id_);
    rte_eth_dev_close(id_);
  }

  const PortFacts& facts() const noexcept override { return facts_; }

  void remember(std::span<std::byte> memory) override {
    // For a card that uses physical addresses, memory is in one piece only within a page.
    if (!is_card_ || rte_eal_iova_mode() != RTE_IOVA_VA) return;
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const bool registered = rte_extmem_register(memory.data(), memory.size(), nullptr, 0, page) == 0;
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    if (registered && rte_dev_dma_map(device_, memory.data(), address, memory.size()) == 0) {
      in_place_.push_back(memory);
    } else if (registered) {
      rte_extmem_unregister(memory.data(), memory.size());
    }
    facts_.sends_in_place = !in_place_.empty();
  }

  void forget(std::span<std::byte> memory) noexcept override {
    const auto known =
        std::ranges::find_if(in_place_, [&](const auto& one) { return one.data() == memory.data(); });
    if (known == in_place_.end()) return;
    for (std::uint16_t queue = 0; queue < queues_; ++queue) rte_eth_tx_done_cleanup(id_, queue, 0);
    rte_dev_dma_unmap(device_, memory.data(), reinterpret_cast<std::uintptr_t>(memory.data()), memory.size());
    rte_extmem_unregister(memory.data(), memory.size());
    in_place_.erase(known);
  }

  std::size_t receive(std::span<Incoming> frames) noexcept override {
    std::array<rte_mbuf*, kBurst> buffers;
    const std::size_t most = std::min(frames.size(), kBurst);
    std::size_t count = 0;
    for (std::uint16_t tries = 0; tries < queues_ && count < most; ++tries) {
      const std::uint16_t came = rte_eth_rx_burst(id_, next_queue_, buffers.data() + count,
                                                  static_cast<std::uint16_t>(most - count));
      count += came;
      if (came > 0) received_by_[next_queue_].fetch_add(came, std::memory_order_relaxed);
      if (++next_queue_ == queues_) next_queue_ = 0;
    }
    for (std::size_t i = 0; i < count; ++i)
      frames[i] = {rte_pktmbuf_mtod(buffers[i], const std::byte*), rte_pktmbuf_data_len(buffers[i]),
                   buffers[i], is_damaged(buffers[i]->ol_flags)};
    return count;
  }

  void release(void* handle) noexcept override { rte_pktmbuf_free(static_cast<rte_mbuf*>(handle)); }

  std::size_t send(std::span<const Outgoing> frames) noexcept override {
    std::array<rte_mbuf*, kBurst> buffers;
    std::uint16_t count = 0;
    while (count < frames.size() && count < kBurst) {
      buffers[count] = to_buffer(frames[count]);
      if (buffers[count] == nullptr) break;
      ++count;
    }
    std::uint16_t taken = 0;
    while (taken < count) {  // frames of one queue go at once
      const std::size_t queue = frames[taken].lane % queues_;
      std::uint16_t end = taken;
      while (end < count && frames[end].lane % queues_ == queue) ++end;
      taken = static_cast<std::uint16_t>(taken + rte_eth_tx_burst(id_, static_cast<std::uint16_t>(queue),
                                                                  buffers.data() + taken,
                                                                  static_cast<std::uint16_t>(end - taken)));
      if (taken < end) break;
    }
    for (std::uint16_t i = taken; i < count; ++i) rte_pktmbuf_free(buffers[i]);
    return taken;
  }

  std::uint64_t received_by(std::size_t queue) const noexcept override {
    return received_by_[queue].load(std::memory_order_relaxed);
  }

  std::uint64_t missed() const noexcept override {
    rte_eth_stats stats{};
    return rte_eth_stats_get(id_, &stats) == 0 ? stats.imissed + stats.rx_nombuf : 0;
  }

 private:
  [[noreturn]] static void refuse(const std::string& port, int error) {
    const std::string said = take_complaint();
    if (is_pci(port))
      throw Trouble(
          fmt::format("DPDK finds no port at {}: has it a driver for this card, and "
                      "may this user open its group in /dev/vfio?{}{}",
                      port, said.empty() ? "" : " DPDK says: ", said));
    const bool no_right = geteuid() != 0 && (error == -EPERM || error == -EACCES);
    throw Trouble(fmt::format("cannot open {}: {}{}", port,
                              !said.empty() ? said : rte_strerror(std::abs(error)),
                              no_right ? " (raw sockets need root, or CAP_NET_RAW)" : ""));
  }

  static void check(int result, const std::string& name, const char* what) {
    if (result >= 0) return;
    const std::string said = take_complaint();
    throw Trouble(fmt::format("{} does not {}: {}", name, what, said.empty() ? rte_strerror(-result) : said));
  }

  /// Starts the port. One end of a memif listens. The other one may be here before that, or is turned away as
  /// long as the port behind the socket has not started, and nothing but another start makes it try again.
  int start(const std::string& port) const {
    const bool connects = port.starts_with("net_memif") && argument(port, "role") != "server" &&
                          argument(port, "role") != "master";
    constexpr int kTries = 50;
    for (int tries = 1;; ++tries) {
      const int result = rte_eth_dev_start(id_);
      if (!connects || (result >= 0 && comes_up()) || tries == kTries) return result;
      take_complaint();
      rte_eth_dev_stop(id_);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  bool comes_up() const {
    rte_eth_link link{};
    for (int looks = 0; looks < 20; ++looks) {
      if (rte_eth_link_get_nowait(id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  void open(const PortOptions& options, const std::string& port, std::uint32_t frame_bytes) {
    const std::string& name = options.port;
    rte_eth_dev_info info{};
    check(rte_eth_dev_info_get(id_, &info), name, "tell what it is");
    device_ = info.device;
    is_card_ = is_pci(port);
    rte_eth_conf wanted{};
    if (is_card_) wanted.rxmode.mtu = card_mtu(port);
    many_segments_ = (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
    if (many_segments_) wanted.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
    facts_.sends_in_place = many_segments_ && !is_card_;
    choose_checksums(info, options.udp, wanted);
    // Cards spread plain Ethernet by nothing that would keep the order of lanes.
    queues_ = queues_for(info, is_card_ && !options.udp ? 1 : options.lanes);
    const bool hashed = choose_hash(info, queues_, options.udp, wanted);
    check(rte_eth_dev_configure(id_, queues_, queues_, &wanted), name, "take its configuration");
    std::uint16_t receives = std::max<std::uint16_t>(kDescriptors / queues_, kLeastDescriptors);
    std::uint16_t sends = receives;
    check(rte_eth_dev_adjust_nb_rx_tx_desc(id_, &receives, &sends), name, "take so many descriptors");
    std::uint16_t mtu = 1500;
    // The virtio driver takes the largest MTU if the port is configured anew for other offloads.
    if (is_card_) rte_eth_dev_set_mtu(id_, card_mtu(port));
    rte_eth_dev_get_mtu(id_, &mtu);
    if (is_card_ && mtu != card_mtu(port))
      throw Trouble(fmt::format("{} has an MTU of {}, and takes no other", name, mtu));
    facts_.mtu = mtu;
    if (const std::uint32_t interface_mtu = mtu_of(argument(port, "iface")); interface_mtu > 0)
      facts_.mtu = std::min(interface_mtu, frame_bytes - 128);  // room for the kernel's own header
    const int node = rte_eth_dev_socket_id(id_);
    const std::uint32_t room = frame_bytes + RTE_PKTMBUF_HEADROOM;
    const auto buffers = static_cast<std::uint32_t>(kBufferMemory / (room + sizeof(rte_mbuf)));
    incoming_ = make_pool("in", buffers, room, node);
    const std::uint32_t on_their_way = 2U * sends * queues_ + kBurst;
    outgoing_ = make_pool("out", on_their_way, many_segments_ && !is_card_ ? kHeadRoom : room, node);
    if (many_segments_) payloads_ = make_pool("payload", on_their_way, 0, node);
    // The rest is for frames that are on their way through the port.
    facts_.buffers =
        buffers - std::min<std::uint32_t>(buffers / 2, std::uint32_t{receives} * queues_ + 4 * kBurst);
    for (std::uint16_t queue = 0; queue < queues_; ++queue) {
      check(rte_eth_rx_queue_setup(id_, queue, receives, static_cast<unsigned>(node), nullptr, incoming_),
            name, "make a receive queue");
      check(rte_eth_tx_queue_setup(id_, queue, sends, static_cast<unsigned>(node), nullptr), name,
            "make a send queue");
    }
    check(start(port), name, "start");
    for (int tries = 0; is_card_ && !comes_up(); ++tries)
      if (tries == kLinkTries)
        throw Trouble(fmt::format("{} has no link: is there a cable, and is the other end up?", name));
    facts_.queues = steer(id_, queues_, options, hashed);
    rte_ether_addr address{};
    check(rte_eth_macaddr_get(id_, &address), name, "tell its address");
    std::copy(std::begin(address.addr_bytes), std::end(address.addr_bytes), facts_.mac.begin());
    rte_eth_link link{};
    if (rte_eth_link_get_nowait(id_, &link) == 0 && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
      facts_.bits_per_s = std::uint64_t{link.link_speed} * 1'000'000;
    shared_.free_cb = [](void*, void*) {};
    rte_mbuf_ext_refcnt_set(&shared_, 1);
  }

  void choose_checksums(const rte_eth_dev_info& info, bool udp, rte_eth_conf& wanted) noexcept {
    if (!udp) return;
    facts_.checks_udp = (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_UDP_CKSUM) != 0;
    if (facts_.checks_udp) wanted.txmode.offloads |= RTE_ETH_TX_OFFLOAD_UDP_CKSUM;
    wanted.rxmode.offloads |=
        info.rx_offload_capa & (RTE_ETH_RX_OFFLOAD_IPV4_CKSUM | RTE_ETH_RX_OFFLOAD_UDP_CKSUM);
    checks_incoming_ = wanted.rxmode.offloads != 0;
  }

  /// Returns whether the frame is damaged. A frame that has never left this host may have no checksum, and
  /// that is no damage: "none" has the bit of "bad".
  bool is_damaged(std::uint64_t flags) const noexcept {
    return checks_incoming_ && ((flags & RTE_MBUF_F_RX_IP_CKSUM_MASK) == RTE_MBUF_F_RX_IP_CKSUM_BAD ||
                                (flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_BAD);
  }

  /// Leaves the checksum to the card, which wants that of the addresses in its place.
  static void ask_for_checksum(rte_mbuf* head) noexcept {
    head->l2_len = kEthernetBytes;
    head->l3_len = kIpBytes;
    head->ol_flags |= RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_UDP_CKSUM;
    auto* const ip = rte_pktmbuf_mtod_offset(head, rte_ipv4_hdr*, kEthernetBytes);
    auto* const udp = rte_pktmbuf_mtod_offset(head, rte_udp_hdr*, kEthernetBytes + kIpBytes);
    udp->dgram_cksum = rte_ipv4_phdr_cksum(ip, head->ol_flags);
  }

  /// Makes a pool that one thread uses at a time, as it uses the port.
  rte_mempool* make_pool(const char* what, std::uint32_t count, std::uint32_t room, int node) const {
    rte_mempool* const pool =
        rte_pktmbuf_pool_create_by_ops(fmt::format("edgewire{}{}", id_, what).c_str(), count, 0, 0,
                                       static_cast<std::uint16_t>(room), node, "ring_sp_sc");
    if (pool == nullptr) {
      take_complaint();
      throw Trouble(
          fmt::format("no memory for {} buffers of {} bytes: {} (more with {} '-m MEGABYTES', or huge pages)",
                      count, room, rte_strerror(rte_errno), opt::dpdk_args));
    }
    return pool;
  }

  bool lies_in_place(std::span<const std::byte> payload) const noexcept {
    if (!is_card_) return true;
    return std::ranges::any_of(in_place_, [&](const auto& memory) {
      return payload.data() >= memory.data() &&
             payload.data() + payload.size() <= memory.data() + memory.size();
    });
  }

  static void append(rte_mbuf* buffer, const void* data, std::size_t bytes) noexcept {
    std::memcpy(rte_pktmbuf_mtod_offset(buffer, char*, buffer->data_len), data, bytes);
    buffer->data_len = static_cast<std::uint16_t>(buffer->data_len + bytes);
    buffer->pkt_len += static_cast<std::uint32_t>(bytes);
  }

  /// Returns null when there is no buffer.
  rte_mbuf* to_buffer(const Outgoing& frame) noexcept {
    rte_mbuf* const head = rte_pktmbuf_alloc(outgoing_);
    if (head == nullptr) return nullptr;
    append(head, frame.head.bytes.data(), frame.head.size);
    if (facts_.checks_udp) ask_for_checksum(head);
    if (frame.payload.empty()) return head;
    const bool is_own = frame.payload.data() == frame.own.data();
    if (is_own || !many_segments_ || !lies_in_place(frame.payload)) {
      if (frame.payload.size() <= rte_pktmbuf_tailroom(head)) {
        append(head, frame.payload.data(), frame.payload.size());
        return head;
      }
      rte_pktmbuf_free(head);
      return nullptr;
    }
    rte_mbuf* const payload = rte_pktmbuf_alloc(payloads_);
    if (payload == nullptr) {
      rte_pktmbuf_free(head);
      return nullptr;
    }
    auto* const data = const_cast<std::byte*>(frame.payload.data());
    rte_mbuf_ext_refcnt_update(&shared_, 1);
    rte_pktmbuf_attach_extbuf(payload, data, reinterpret_cast<std::uintptr_t>(data),
                              static_cast<std::uint16_t>(frame.payload.size()), &shared_);
    payload->data_len = static_cast<std::uint16_t>(frame.payload.size());
    payload->pkt_len = payload->data_len;
    head->next = payload;
    head->nb_segs = 2;
    head->pkt_len += payload->data_len;
    return head;
  }

  std::uint16_t id_ = RTE_MAX_ETHPORTS;
  PortFacts facts_;
  rte_device* device_ = nullptr;
  bool is_card_ = false;
  bool many_segments_ = false;
  std::uint16_t queues_ = 1, next_queue_ = 0;
  bool checks_incoming_ = false;  ///< whether the port tells of wrong checksums
  std::array<std::atomic<std::uint64_t>, kMostQueues> received_by_{};  ///< frames by queue
  rte_mempool* incoming_ = nullptr;
  rte_mempool* outgoing_ = nullptr;
  rte_mempool* payloads_ = nullptr;  ///< buffers without room of their own
  rte_mbuf_ext_shared_info shared_{};
  std::vector<std::span<std::byte>> in_place_;  ///< memory that the card reads
};

}  // namespace

extern "C" __attribute__((visibility("default"))) FramePort* edgewire_dpdk_open_port(
    const PortOptions& options, const char* version, std::string& trouble) {
  try {
    if (std::string_view(version) != EDGEWIRE_VERSION) throw Trouble("the plug-in is of another version");
    options::speak(options.face);
    return new EalPort(options);
  } catch (const std::exception& error) {
    trouble = error.what();
    return nullptr;
  }
}

}  // namespace edgewire::transport::dpdk
