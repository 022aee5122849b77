#include "transport/dpdk/eal.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_flow.h>
#include <rte_log.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "options/jobs.h"
#include "transport/file_descriptor.h"

namespace edgewire::transport::dpdk {
namespace {

constexpr std::uint64_t kHugePageNeed = std::uint64_t{128} << 20;

/// The lines that DPDK has logged since the last call.
class Log {
 public:
  Log() : stream_(open_memstream(&text_, &bytes_)) {
    if (stream_ != nullptr) rte_openlog_stream(stream_);
  }
  /// Returns the first line that says what went wrong, without the name of who says it.
  std::string take() {
    if (stream_ == nullptr) return {};
    std::fflush(stream_);
    std::istringstream lines(std::string(text_ + seen_, bytes_ - seen_));
    seen_ = bytes_;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t colon = line.find(": ");
      std::string said = colon == line.npos ? line : line.substr(colon + 2);
      while (!said.empty() && (said.back() == ' ' || said.back() == '.')) said.pop_back();
      if (!said.empty()) return said;
    }
    return {};
  }

 private:
  char* text_ = nullptr;
  std::size_t bytes_ = 0, seen_ = 0;
  FILE* stream_ = nullptr;
};

Log& log() {
  static auto* const made = new Log;  // DPDK may log until the end
  return *made;
}

/// Hides what this process prints while it lives: DPDK prints its usage when it does not like an argument.
class Silence {
 public:
  Silence() {
    std::fflush(stdout);
    for (Kept& one : kept_)
      if (file_ && one.copy) dup2(file_.get(), one.fd);
  }
  ~Silence() {
    std::fflush(stdout);
    for (const Kept& one : kept_)
      if (one.copy) dup2(one.copy.get(), one.fd);
  }
  /// Returns what getopt says of an argument: "PROGRAM: unrecognized option '--x'".
  std::string complaint() const {
    std::string text(4096, '\0');
    const ssize_t bytes = pread(file_.get(), text.data(), text.size(), 0);
    text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      if (line.find(": ") != line.npos &&
          (line.find("option '") != line.npos || line.find("option -- '") != line.npos))
        return line.substr(line.find(": ") + 2);
    return {};
  }

 private:
  struct Kept {
    int fd;
    FileDescriptor copy{fcntl(fd, F_DUPFD_CLOEXEC, 3)};
  };
  FileDescriptor file_{memfd_create("edgewire-dpdk", MFD_CLOEXEC)};
  std::array<Kept, 2> kept_{{{STDOUT_FILENO}, {STDERR_FILENO}}};
};

int first_cpu() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed)) return cpu;
  return 0;
}

/// Returns what stands before the arguments of a port.
std::string address_of(const std::string& port) { return port.substr(0, port.find(',')); }

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

std::string take_complaint() { return log().take(); }

bool is_pci(const std::string& port) {
  const std::string address = address_of(port);
  return address.find_first_not_of("0123456789abcdefABCDEF:.") == address.npos &&
         address.find(':') != address.npos && address.find('.') != address.npos;
}

std::uint16_t card_mtu(const std::string& port) {
  const std::string text = argument(port, "mtu");
  if (text.empty()) return RTE_ETHER_MTU;
  std::uint16_t mtu = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), mtu);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || mtu < RTE_ETHER_MIN_MTU)
    throw Trouble(fmt::format("'{}' in {} is no number of bytes", text, port));
  return mtu;
}

void check_card(const std::string& port) {
  const std::string address = address_of(port);
  const std::string folder =
      fmt::format("/sys/bus/pci/devices/{}{}", std::ranges::count(address, ':') < 2 ? "0000:" : "", address);
  if (access(folder.c_str(), F_OK) != 0)
    throw Trouble(fmt::format(
        "there is no PCI device {} (dpdk-devbind.py --status lists those that there are)", address));
  std::error_code error;
  const std::string driver = std::filesystem::read_symlink(folder + "/driver", error).filename();
  // The last three share their card with the kernel.
  constexpr std::array kDrivers{"vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_core", "mlx4_core", "mana"};
  if (std::ranges::find(kDrivers, driver) == kDrivers.end())
    throw Trouble(fmt::format("{} is bound to {}, not to vfio-pci (dpdk-devbind.py -b vfio-pci {})", address,
                              driver.empty() ? "no driver" : driver, address));
  if (free_huge_bytes() < kHugePageNeed)
    throw Trouble(
        fmt::format("a card needs {} MiB of huge pages for each process (dpdk-hugepages.py --setup 512M)",
                    kHugePageNeed >> 20));
}

void start_environment(const PortOptions& options, std::uint32_t frame_bytes) {
  static std::mutex mutex;
  static bool tried = false;
  const std::scoped_lock lock(mutex);
  if (std::exchange(tried, true)) return;
  std::vector<std::string> words{"edgewire", "--no-telemetry", "--log-level=error"};
  std::istringstream stream(options.args);
  const std::vector<std::string> more{std::istream_iterator<std::string>(stream), {}};
  const auto named = [&](std::initializer_list<std::string_view> names) {
    return std::ranges::any_of(more, [&](const std::string& word) {
      return std::ranges::any_of(names, [&](std::string_view name) { return word.starts_with(name); });
    });
  };
  if (!named({"-l", "-c", "--lcores"})) words.push_back(fmt::format("-l{}", first_cpu()));
  if (is_pci(options.port)) {
    std::string card = options.port;  // DPDK does not know our part of it
    if (const std::size_t at = card.find(",mtu="); at != card.npos)
      card.erase(at, card.find(',', at + 1) - at);
    words.push_back("-a" + card);
  } else {
    if (!named({"--iova-mode"})) words.emplace_back("--iova-mode=va");
    if (!named({"-a", "--allow"})) words.emplace_back("--no-pci");
  }
  const bool huge = !named({"--no-huge"}) && (free_huge_bytes() >= kHugePageNeed || is_pci(options.port));
  if (huge) {
    words.emplace_back("--in-memory");
  } else {
    words.emplace_back("--no-huge");
    words.emplace_back("--no-shconf");  // as --in-memory does, which takes huge pages only
    if (!named({"-m"})) words.push_back(fmt::format("-m{}", frame_bytes > 4096 ? 128 : 64));
  }
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  log();
  int result = 0, error = 0;
  std::string complaint;
  // This runs in a thread of its own, which DPDK binds to a core.
  std::thread([&] {
    const Silence silence;
    result = rte_eal_init(static_cast<int>(arguments.size()), arguments.data());
    error = rte_errno;
    complaint = silence.complaint();
  }).join();
  if (result >= 0) return;
  const std::string said = take_complaint();
  throw Trouble(fmt::format("DPDK does not start: {} ({})",
                            !complaint.empty() ? complaint
                            : !said.empty()    ? said
                                               : rte_strerror(error),
                            opt::dpdk_args(fmt::format("'{}'", options.args))));
}

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
