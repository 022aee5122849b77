#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "transport/tcp.h"

namespace edgewire::transport {
namespace {

constexpr std::size_t kBatchFrames = 64;  ///< sent by one call at most

/// The pieces of one call: header and payload of each frame.
struct Pieces {
  std::array<iovec, 2 * kBatchFrames> pieces;
  std::size_t count = 0;

  /// Adds `bytes` at `data` but for the first `skip`, which is reduced by what was skipped.
  void add(const void* data, std::size_t bytes, std::size_t& skip) noexcept {
    const std::size_t skipped = std::min(skip, bytes);
    skip -= skipped;
    if (bytes == skipped) return;
    // sendmsg does not change what it sends.
    pieces[count++] = {const_cast<char*>(static_cast<const char*>(data)) + skipped, bytes - skipped};
  }
};

}  // namespace

bool Tcp::write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept {
  Link& to = link(lane, peer);
  const std::size_t frames = std::max<std::size_t>((source.size() + kMaxFrameBytes - 1) / kMaxFrameBytes, 1);
  if (SendQueue::kFrames - (to.out.filled - to.out.sent.load(std::memory_order_acquire)) < frames) {
    to.out.published.store(to.out.filled, std::memory_order_release);  // or nobody would ever make room
    return false;
  }
  std::span<const std::byte> rest = source;
  do {
    const auto part = rest.first(std::min(rest.size(), kMaxFrameBytes));
    rest = rest.subspan(part.size());
    queue(to, {offset, static_cast<std::uint32_t>(part.size()), 0, FrameType::Write, 0}, part.data(),
          rest.empty());
    offset += part.size();
  } while (!rest.empty());
  lanes_[index(lane, peer)].add(1, source.size(), source.size() + frames * sizeof(FrameHeader));
  return true;
}

bool Tcp::signal(int lane, int peer, int kind, std::uint64_t count) noexcept {
  if (!queue(link(lane, peer), {count, 0, static_cast<std::uint16_t>(kind), FrameType::Signal, 0}, nullptr,
             false))
    return false;
  lanes_[index(lane, peer)].add(0, 0, sizeof(FrameHeader));
  return true;
}

bool Tcp::queue(Link& link, const FrameHeader& header, const std::byte* payload, bool ends_write) noexcept {
  SendQueue& out = link.out;
  if (out.filled - out.sent.load(std::memory_order_acquire) == SendQueue::kFrames) {
    out.published.store(out.filled, std::memory_order_release);
    return false;
  }
  out.frames[out.filled % SendQueue::kFrames] = {header, payload, ends_write};
  ++out.filled;
  return true;
}

void Tcp::ring_doorbell(int lane) noexcept {
  for (int peer = 0; peer < settings_.size; ++peer) {
    Link* link = links_[index(lane, peer)].get();
    if (link == nullptr) continue;
    SendQueue& out = link->out;
    if (out.published.load(std::memory_order_relaxed) == out.filled) continue;
    out.published.store(out.filled, std::memory_order_release);
    flush(*link);
  }
}

/// Sends what is published until the socket has no more room. Who finds another thread at it leaves it to
/// that one, which looks again before it goes.
void Tcp::flush(Link& link) noexcept {
  SendQueue& out = link.out;
  const auto pending = [&] {
    return out.published.load() != out.sent.load(std::memory_order_acquire) && !out.blocked.load() &&
           !link.in.ended.load(std::memory_order_relaxed);
  };
  bool progress = false;
  while (pending() && !out.busy.test_and_set()) {
    while (pending() && send_some(link)) progress = true;
    out.busy.clear();
  }
  if (progress) announce();
}

/// One call to the system; false when it sent nothing.
bool Tcp::send_some(Link& link) noexcept {
  SendQueue& out = link.out;
  const std::uint64_t first = out.sent.load(std::memory_order_relaxed);
  const std::uint64_t last = std::min(out.published.load(std::memory_order_acquire), first + kBatchFrames);
  Pieces pieces;
  std::size_t skip = out.sent_bytes;
  for (std::uint64_t i = first; i < last; ++i) {
    const SendQueue::Frame& frame = out.frames[i % SendQueue::kFrames];
    pieces.add(&frame.header, sizeof frame.header, skip);
    pieces.add(frame.payload, frame.header.length, skip);
  }
  msghdr message{};
  message.msg_iov = pieces.pieces.data();
  message.msg_iovlen = pieces.count;
  // Before the call: when room appears right after it, poll() clears this.
  out.blocked.store(true);
  const ssize_t sent = sendmsg(link.socket.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0) {
    if (errno == EAGAIN) return false;
    if (errno == EINTR) {
      out.blocked.store(false);
      return true;
    }
    out.error.store(errno, std::memory_order_relaxed);
    link.in.readable.store(true,
                           std::memory_order_release);  // pairs with exchange in receive(), which says why
    return false;
  }
  out.blocked.store(false);
  std::size_t done = out.sent_bytes + static_cast<std::size_t>(sent);
  std::uint64_t frames = first;
  std::uint64_t writes = 0;
  for (; frames < last; ++frames) {
    const SendQueue::Frame& frame = out.frames[frames % SendQueue::kFrames];
    if (done < sizeof frame.header + frame.header.length) break;
    done -= sizeof frame.header + frame.header.length;
    writes += frame.ends_write ? 1 : 0;
  }
  out.sent_bytes = done;
  out.sent.store(frames, std::memory_order_release);
  out.completed.fetch_add(writes, std::memory_order_release);
  return true;
}

}  // namespace edgewire::transport
