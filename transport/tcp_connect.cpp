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
#include "transport/tcp.h"

namespace edgewire::transport {
namespace {

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

}  // namespace edgewire::transport
