#include <dlfcn.h>
#include <fmt/core.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "base/error.h"
#include "topology/placement.h"
#include "transport/dpdk/dpdk.h"

namespace edgewire::transport::dpdk {
namespace {

/// The bits of a flow's number that are its place in the table. The others tell its successive flows apart.
constexpr std::uint32_t kPlaceBits = 12;
constexpr Nanoseconds kOthersAreAtIt = 200'000;
constexpr Nanoseconds kShortestRest = 20'000, kLongestRest = 200'000;
constexpr std::uint64_t kPreambleAndGap = 8 + 4 + 12;

constexpr std::uint64_t kRawSockets = 1ULL << 13;  ///< bit of CAP_NET_RAW, capabilities(7)

std::uint64_t capabilities() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("CapEff:")) return std::stoull(line.substr(7), nullptr, 16);
  return 0;
}

/// Returns whether this user may open a group of devices that are bound to vfio-pci.
bool may_use_a_card() {
  std::error_code error;
  for (const auto& group : std::filesystem::directory_iterator("/dev/vfio", error))
    if (group.path().filename() != "vfio" && access(group.path().c_str(), R_OK | W_OK) == 0) return true;
  return false;
}

/// Returns the plug-in's function. Throws Error that says what is missing.
OpenPort load_plugin() {
  static void* const handle = dlopen(kPluginName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const said = dlerror();
    const std::string cause = said == nullptr ? "" : said;
    if (cause.find("librte_") != cause.npos)
      throw Error(fmt::format("DPDK 22.11 is not installed (apt-get install dpdk): {}", cause));
    throw Error(fmt::format("{} is not where the program looks for it: {}", kPluginName, cause));
  }
  const auto found = reinterpret_cast<OpenPort>(dlsym(handle, kOpenPort));
  if (found == nullptr) throw Error(fmt::format("{} has no function {}", kPluginName, kOpenPort));
  return found;
}

/// Gives the thread a higher priority than workers of real-time priority, so that it gets its turn.
void outrank_workers() noexcept {
  sched_param parameter{};
  const int policy = sched_getscheduler(0);
  if ((policy != SCHED_FIFO && policy != SCHED_RR) || sched_getparam(0, &parameter) != 0) return;
  parameter.sched_priority = std::min(parameter.sched_priority + 1, sched_get_priority_max(policy));
  sched_setscheduler(0, policy, &parameter);
}

}  // namespace

std::string trouble_with_plugin() {
  try {
    load_plugin();
  } catch (const Error& error) {
    return error.what();
  }
  if ((capabilities() & kRawSockets) == 0 && !may_use_a_card())
    return "no permission: virtual devices need root or CAP_NET_RAW, cards a group in /dev/vfio that this "
           "user may open "
           "(dpdk-devbind.py -b vfio-pci ADDRESS; chown USER /dev/vfio/GROUP)";
  return {};
}

std::string ports_here() {
  std::size_t cards = 0;
  for (const char* driver : {"vfio-pci", "uio_pci_generic", "igb_uio"}) {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(fmt::format("/sys/bus/pci/drivers/{}", driver), error))
      if (entry.path().filename().string().find(':') != std::string::npos) ++cards;
  }
  const std::uint64_t huge_bytes = free_huge_bytes();
  return fmt::format("{}; {}",
                     cards > 0 ? fmt::format("{} devices are bound for DPDK", cards)
                               : "no card is bound for DPDK (dpdk-devbind.py -b vfio-pci ADDRESS)",
                     huge_bytes > 0
                         ? fmt::format("{} MiB of huge pages are free", huge_bytes >> 20)
                         : "no huge pages are free (cards need them: dpdk-hugepages.py --setup 512M)");
}

std::shared_ptr<Station> Station::at(const DpdkChoice& choice, int lanes) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Station>> stations;
  static const pid_t process = getpid();
  const std::scoped_lock lock(mutex);
  if (process != getpid()) throw Error("DPDK was started before this process was forked");
  auto& station = stations[choice.port + '\n' + choice.udp + '\n' + choice.faults];
  if (station != nullptr) return station;
  const OpenPort open = load_plugin();
  std::string trouble;
  std::unique_ptr<FramePort> port(
      open({choice.port, choice.args, !choice.udp.empty(), lanes}, EDGEWIRE_VERSION, trouble));
  if (port == nullptr) throw Error(trouble);
  if (!choice.faults.empty()) port = with_frame_faults(std::move(port), choice.faults);
  const std::uint64_t bits_per_s = choice.bits_per_s > 0 ? choice.bits_per_s : port->facts().bits_per_s;
  station = std::make_shared<Station>(std::move(port), !choice.udp.empty(), bits_per_s, choice.poll_cpu);
  return station;
}

Station::Station(std::unique_ptr<FramePort> port, bool udp, std::uint64_t bits_per_s, int poll_cpu)
    : port_(std::move(port)), udp_(udp), pacer_(bits_per_s), poll_cpu_(poll_cpu), outgoing_(kBurst) {}

Station::~Station() { thread_ = {}; }

std::uint32_t Station::add(Link& link) {
  const std::scoped_lock lock(thread_mutex_, busy_);
  std::size_t place = 0;
  while (place < places_.size() && places_[place].link != nullptr) ++place;
  if (place >> kPlaceBits != 0) throw Error("too many connections over one port");
  if (place == places_.size()) places_.push_back({nullptr, std::random_device{}()});
  places_[place].link = &link;
  ++places_[place].generation;
  if (++flows_ == 1) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  return places_[place].generation << kPlaceBits | static_cast<std::uint32_t>(place);
}

void Station::remove(std::uint32_t number) noexcept {
  const std::scoped_lock lock(thread_mutex_);
  {
    const std::scoped_lock hold(busy_);
    places_[number & ((1U << kPlaceBits) - 1)].link = nullptr;
    flush();
    queued_ = 0;  // frames that are lost here are sent again
  }
  if (--flows_ == 0) thread_ = {};
}

void Station::remember(std::span<std::byte> memory) {
  const std::scoped_lock lock(busy_);
  port_->remember(memory);
}

void Station::forget(std::span<std::byte> memory) noexcept {
  const std::scoped_lock lock(busy_);
  port_->forget(memory);
}

void Station::release_all(Receiver& receiver) noexcept {
  const std::scoped_lock lock(busy_);
  for (Incoming frame = receiver.drop(); frame.data != nullptr; frame = receiver.drop()) release(frame);
}

bool Station::progress() noexcept {
  last_progress_.store(now_ns(), std::memory_order_relaxed);
  return work();
}

bool Station::work() noexcept {
  asked_.store(true);  // pairs with exchange() below: either this thread gets in, or the holder sees it
  bool moved = false;
  while (asked_.load() && busy_.try_lock()) {
    asked_.exchange(false);
    moved_ = false;
    for (int i = 0; i < kTurns; ++i) {
      turn();
      if (received_ < kBurst) break;
    }
    moved = moved || moved_;
    busy_.unlock();
  }
  return moved;
}

void Station::turn() noexcept {
  std::array<Incoming, kBurst> frames;
  received_ = port_->receive(frames);
  const Nanoseconds now = now_ns();
  for (std::size_t i = 0; i < received_; ++i) {
    if (i + 4 < received_) __builtin_prefetch(frames[i + 4].data);
    take(frames[i], now);
  }
  moved_ = moved_ || received_ > 0;
  if (++turns_ % kTurnsALook == 0) missed_.store(port_->missed(), std::memory_order_relaxed);
  flush();
  for (std::size_t i = 0; i < places_.size(); ++i)
    if (Link* link = places_[(first_place_ + i) % places_.size()].link; link != nullptr) link->step(now);
  ++first_place_;
  flush();
}

void Station::take(const Incoming& frame, Nanoseconds now) noexcept {
  if (!is_ours({frame.data, frame.bytes}, udp_)) {
    strays_.foreign.fetch_add(1, std::memory_order_relaxed);
  } else if (frame.damaged || body(frame).size() < sizeof(Header)) {
    strays_.corrupt.fetch_add(1, std::memory_order_relaxed);
  } else {
    const Header header = header_of(body(frame));
    const std::uint32_t place = header.flow & ((1U << kPlaceBits) - 1);
    Link* const link =
        place < places_.size() && (places_[place].generation << kPlaceBits | place) == header.flow
            ? places_[place].link
            : nullptr;
    std::span<const std::byte> payload;
    if (link == nullptr) {
      strays_.foreign.fetch_add(1, std::memory_order_relaxed);
    } else if (!is_intact(body(frame), header, link->key(), payload)) {
      strays_.corrupt.fetch_add(1, std::memory_order_relaxed);
    } else {
      ++kept_;
      if (link->take(frame, header, payload, now)) return;
      --kept_;
    }
  }
  port_->release(frame.handle);
}

Outgoing* Station::room() noexcept {
  if (queued_ == kBurst) flush();
  return queued_ < kBurst ? &outgoing_[queued_] : nullptr;
}

void Station::sent() noexcept {
  const std::size_t bytes =
      outgoing_[queued_].head.size + outgoing_[queued_].payload.size() + kPreambleAndGap;
  pacer_.take(std::max<std::size_t>(bytes, 84));
  ++queued_;
}

void Station::flush() noexcept {
  if (queued_ == 0) return;
  moved_ = true;
  const std::size_t taken = port_->send(std::span(outgoing_).first(queued_));
  // Spans into `own` must follow their frames.
  for (std::size_t i = taken; i < queued_; ++i) {
    Outgoing& to = outgoing_[i - taken];
    const bool owns = outgoing_[i].payload.data() == outgoing_[i].own.data();
    to = outgoing_[i];
    if (owns) to.payload = std::span(to.own).first(to.payload.size());
  }
  queued_ -= taken;
}

/// Runs the station's own thread.
void Station::run(const std::stop_token& stop) noexcept {
  prctl(PR_SET_TIMERSLACK, 1000);
  if (poll_cpu_ >= 0 && topology::pin_this_thread({poll_cpu_, 0})) {
    while (!stop.stop_requested()) work();
    return;
  }
  outrank_workers();
  // The thread shares a core: it works while no worker does, and rests longer the longer nothing happens.
  Nanoseconds rest = kShortestRest;
  while (!stop.stop_requested()) {
    if (now_ns() - last_progress_.load(std::memory_order_relaxed) > kOthersAreAtIt)
      rest = work() ? kShortestRest : std::min(2 * rest, kLongestRest);
    else
      rest = kLongestRest;
    std::this_thread::sleep_for(std::chrono::nanoseconds(rest));
  }
}

}  // namespace edgewire::transport::dpdk
