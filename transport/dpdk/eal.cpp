#include "transport/dpdk/eal.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_log.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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

}  // namespace edgewire::transport::dpdk
