#include "transport/tcp.h"

#include <fmt/core.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "transport/handshake.h"

namespace edgewire::transport {
namespace {

/// Pause before a lost peer is reported; see report_lost().
constexpr std::chrono::microseconds kLostPause{10'000};

}  // namespace

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
