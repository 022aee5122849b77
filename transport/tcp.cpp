#include "transport/tcp.h"

#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "transport/connector.h"
#include "transport/sockets.h"

namespace edgewire::transport {
namespace {

/// Pause before a lost peer is reported; see report_lost().
constexpr std::chrono::microseconds kLostPause{10'000};
constexpr std::chrono::seconds kGoodbyeLimit{1};

/// Makes TCP notice within the peer timeout that a link is cut: by TCP_USER_TIMEOUT (RFC 5482) if data is not
/// acknowledged, by keepalive probes if nothing is sent.
void set_options(const FileDescriptor& socket, double peer_timeout_s) {
  // The limit is shorter than the timeout, so that all hear of it in time.
  const int limit_ms = std::max(1, static_cast<int>(peer_timeout_s * 800));
  setsockopt(socket.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &limit_ms, sizeof limit_ms);
  keep_alive(socket, peer_timeout_s / 2, peer_timeout_s / 6);
}

}  // namespace

Tcp::Tcp(const Settings& settings)
    : NetworkBackend(settings),
      epoll_(epoll_create1(EPOLL_CLOEXEC)),
      links_(static_cast<std::size_t>(settings.size) * settings.lanes) {
  if (!epoll_ || !alarm_) throw Error(fmt::format("cannot watch sockets: {}", reason(errno)));
  if (settings_.address.empty()) settings_.address = "127.0.0.1";
  watch(alarm_.fd(), kAlarmTag, EPOLLIN);
}

void Tcp::watch(int fd, std::uint64_t tag, std::uint32_t events) const {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
    throw Error(fmt::format("cannot watch a socket: {}", reason(errno)));
}

std::span<std::byte> Tcp::expose(std::size_t bytes, std::span<const Part> parts) {
  make_region(bytes, parts, true);
  listener_ = listen_on(settings_.address, 0);
  return region_;
}

std::string Tcp::blob() const { return fmt::format("{} {}", settings_.address, port_of(listener_)); }

void Tcp::connect(std::span<const std::string> blobs) {
  if (blobs.size() != static_cast<std::size_t>(settings_.size))
    throw Error("connect needs one blob of each process");
  Connector connector(listener_, settings_.secret, Purpose::Data, settings_.rank);
  connector.welcome = [&](const Introduction& who) {
    return who.from > settings_.rank && who.from < settings_.size && !settings_.leaves_out(who.from) &&
           who.lane >= 0 && who.lane < settings_.lanes && links_[index(who.lane, who.from)] == nullptr;
  };
  connector.on_refused = [&](const std::string&, const std::string&) {
    refused_connections_.fetch_add(1, std::memory_order_relaxed);
  };
  int missing = 0;
  for (int peer = 0; peer < settings_.size; ++peer) {
    if (settings_.leaves_out(peer)) continue;
    missing += settings_.lanes;
    if (peer > settings_.rank) continue;
    std::istringstream words(blobs[peer]);
    std::string address;
    int port = 0;
    if (!(words >> address >> port)) throw Error(fmt::format("rank {} did not offer TCP", peer));
    for (int lane = 0; lane < settings_.lanes; ++lane)
      connector.call(address, port, {Purpose::Data, settings_.rank, peer, lane});
  }
  const auto deadline = Clock::now() + std::chrono::duration<double>(settings_.peer_timeout_s);
  while (missing > 0) {
    for (Connector::Connection& made : connector.step(std::chrono::milliseconds(100))) {
      const Introduction& who = made.introduction;
      add_link(who.lane, who.from == settings_.rank ? who.to : who.from, std::move(made.socket));
      --missing;
    }
    if (settings_.health->failed()) throw Error(settings_.health->message());
    if (missing == 0 || Clock::now() < deadline) continue;
    for (int peer = 0; peer < settings_.size; ++peer)
      for (int lane = 0; lane < settings_.lanes; ++lane)
        if (!settings_.leaves_out(peer) && links_[index(lane, peer)] == nullptr)
          throw Error(fmt::format("rank {} cannot be connected over TCP within {} s{}{}", peer,
                                  settings_.peer_timeout_s, connector.trouble(peer).empty() ? "" : ": ",
                                  connector.trouble(peer)));
  }
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i] != nullptr)
      watch(links_[i]->socket.get(), i,
            EPOLLIN | EPOLLOUT | EPOLLRDHUP | static_cast<std::uint32_t>(EPOLLET));
  watch(listener_.get(), kListenerTag, EPOLLIN);
}

void Tcp::add_link(int lane, int peer, FileDescriptor socket) {
  auto added = std::make_unique<Link>();
  added->peer = peer;
  added->lane = lane;
  added->socket = std::move(socket);
  added->address = peer_address(added->socket);
  set_options(added->socket, settings_.peer_timeout_s);
  const int on = 1;
  added->out.zero_copy = setsockopt(added->socket.get(), SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) == 0;
  links_[index(lane, peer)] = std::move(added);
}

/// All processes of the job are connected, so every other caller is a stranger.
void Tcp::refuse_callers() noexcept {
  while (FileDescriptor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)))
    refused_connections_.fetch_add(1, std::memory_order_relaxed);
}

Tcp::~Tcp() {
  listener_.close();
  const auto deadline = Clock::now() + kGoodbyeLimit;
  say_goodbye();
  // Closing a socket with bytes unread would reset the connection and drop what is not acknowledged.
  const auto pending = [&](const std::unique_ptr<Link>& link) {
    if (link == nullptr || link->in.ended.load(std::memory_order_relaxed) ||
        settings_.health->lost(link->peer))
      return false;
    char ignored[4096];
    while (recv(link->socket.get(), ignored, sizeof ignored, MSG_DONTWAIT) > 0) continue;
    return sending(link->socket).waiting > 0;
  };
  while (!settings_.health->failed() && Clock::now() < deadline && std::ranges::any_of(links_, pending))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Sends all that is queued, and then a frame that tells the peers that the end of the connection is no
/// failure. It never sends it in the middle of another frame.
void Tcp::say_goodbye() noexcept {
  const auto deadline = Clock::now() + kGoodbyeLimit;
  for (const auto& link : links_) {
    if (link == nullptr || settings_.health->lost(link->peer)) continue;
    SendQueue& out = link->out;
    out.published.store(out.filled, std::memory_order_release);
    const auto all_sent = [&] { return out.sent.load(std::memory_order_acquire) == out.filled; };
    do {
      out.blocked = false;
      flush(*link);
      if (all_sent() || settings_.health->failed() || out.error != 0) break;
      pollfd event{link->socket.get(), POLLOUT, 0};
      ::poll(&event, 1, 10);
    } while (Clock::now() < deadline);
    FrameHeader goodbye;
    goodbye.check = goodbye.right_check();
    if (all_sent()) [[maybe_unused]]
      const ssize_t ignored = send(link->socket.get(), &goodbye, sizeof goodbye, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(link->socket.get(), SHUT_WR);
  }
}

/// Notes which connections have news. Returns whether the alarm rings.
bool Tcp::look(std::chrono::nanoseconds timeout) noexcept {
  constexpr int kMost = 64;
  std::array<epoll_event, kMost> events;
  const timespec limit{timeout.count() / 1'000'000'000, timeout.count() % 1'000'000'000};
  int count = epoll_pwait2(epoll_.get(), events.data(), kMost, &limit, nullptr);
  // epoll_pwait2 is missing before Linux 5.11, or a container refuses it.
  if (count < 0 && (errno == ENOSYS || errno == EPERM))
    count = epoll_wait(epoll_.get(), events.data(), kMost,
                       static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(timeout).count()));
  if (count < 0 && errno != EINTR)
    settings_.health->fail(-1, fmt::format("cannot wait for connections (epoll_wait): {}", reason(errno)));
  bool rings = false;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[i];
    if (event.data.u64 == kAlarmTag) {
      rings = true;
    } else if (event.data.u64 == kListenerTag) {
      refuse_callers();
    } else {
      Link& link = *links_[event.data.u64];
      // Zero-copy sends that are complete come as EPOLLERR; a lost connection is EPOLLHUP as well.
      if ((event.events & EPOLLERR) != 0) link.out.notified.store(true);  // pairs with load in flush()
      if ((event.events & (EPOLLRDHUP | EPOLLHUP)) != 0) link.in.hung_up.store(true);
      link.in.readable.store(true);                                       // pairs with load in receive()
      if ((event.events & EPOLLOUT) != 0) link.out.blocked.store(false);  // pairs with load in flush()
    }
  }
  return rings;
}

void Tcp::progress() noexcept {
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    receive(*link);
    flush(*link);
  }
  report_lost();
}

bool Tcp::poll() noexcept {
  if (!looking_.test_and_set(std::memory_order_acquire)) {
    look(std::chrono::nanoseconds(0));
    looking_.clear(std::memory_order_release);
  }
  progress();
  last_look_.remember(wakeup_.generation());
  return !settings_.health->failed();
}

bool Tcp::wait(std::chrono::microseconds timeout) noexcept {
  std::uint32_t seen = 0;
  const bool looked = last_look_.recall(seen);
  progress();
  if (lost_.load(std::memory_order_relaxed) != nullptr) timeout = std::min(timeout, kLostPause);
  if (!looked || settings_.health->failed()) return poll();
  if (!alarm_.begin()) {
    wakeup_.sleep_if(seen, timeout, [&] { return alarm_.is_watched(); });
    return poll();
  }
  if (wakeup_.generation() == seen && look(timeout)) alarm_.silence();
  alarm_.end();
  wakeup_.wake_sleepers();  // one of them may watch now
  return poll();
}

/// Ends the sleep of all waiting threads, since something came or went.
void Tcp::announce() noexcept {
  wakeup_.announce();
  alarm_.ring();
}

std::uint64_t Tcp::completed(int lane, int peer) const noexcept {
  const auto& link = links_[index(lane, peer)];
  return link == nullptr ? 0 : link->out.completed.load(std::memory_order_acquire);
}

Counters Tcp::counters() const noexcept {
  Counters total = NetworkBackend::counters();
  total.handshake_messages =
      Handshake::kMessages * static_cast<std::uint64_t>(std::ranges::count_if(
                                 links_, [](const auto& link) { return link != nullptr; }));
  total.refused_connections = refused_connections_.load(std::memory_order_relaxed);
  total.zero_copy_sends = zero_copy_sends_.load(std::memory_order_relaxed);
  total.copied_sends = copied_sends_.load(std::memory_order_relaxed);
  total.corrupt_frames = corrupt_frames_.load(std::memory_order_relaxed);
  return total;
}

/// Counts full segments and one for the rest on Ethernet, MTU 1500: preamble 8, Ethernet header 14, check
/// sequence 4, gap 12, IPv4 header 20, TCP header with timestamps 32. Acknowledgements go the other way.
std::uint64_t Tcp::wire_bytes_of(std::uint64_t frame_bytes) const noexcept {
  constexpr std::uint64_t kOverheadBytes = 8 + 14 + 4 + 12 + 20 + 32;
  constexpr std::uint64_t kSegmentBytes = 1500 - 20 - 32;
  const std::uint64_t segments = (frame_bytes + kSegmentBytes - 1) / kSegmentBytes;
  return frame_bytes + segments * kOverheadBytes;
}

}  // namespace edgewire::transport
