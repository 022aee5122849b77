#include <ctime>  // errqueue.h needs it first

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/tcp.h"

namespace edgewire::transport {
namespace {

constexpr std::size_t kBatchFrames = 64;  ///< frames that one call sends at most
/// Mean payload above which a copy costs more than a zero-copy send (about 10 KB in the kernel's words).
constexpr std::size_t kZeroCopyBytes = 32768;

constexpr std::array<std::byte, kUnitBytes> kNothing{};

/// The pieces of one call: header, lead, payload and tail of each frame.
struct Pieces {
  std::array<iovec, 4 * kBatchFrames> pieces;
  std::size_t count = 0;
  std::size_t total_bytes = 0;

  /// Adds the `bytes` at `data` without the first `skip` of them. Reduces `skip` by what it has skipped.
  void add(const void* data, std::size_t bytes, std::size_t& skip) noexcept {
    const std::size_t skipped = std::min(skip, bytes);
    skip -= skipped;
    if (bytes == skipped) return;
    total_bytes += bytes - skipped;
    // sendmsg does not change what it sends.
    pieces[count++] = {const_cast<char*>(static_cast<const char*>(data)) + skipped, bytes - skipped};
  }
};

/// Lets the lane reuse memory that the system no longer reads.
void release(SendQueue& out) noexcept {
  const auto position = out.calls.reusable({out.sent.load(std::memory_order_relaxed), out.sent_writes});
  out.reusable.store(position.frames, std::memory_order_release);
  out.completed.store(position.writes, std::memory_order_release);
}

}  // namespace

bool Tcp::write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept {
  Link& to = link(lane, peer);
  const std::size_t frames = std::max<std::size_t>((source.size() + kMaxFrameBytes - 1) / kMaxFrameBytes, 1);
  if (SendQueue::kFrames - (to.out.filled - to.out.reusable.load(std::memory_order_acquire)) < frames) {
    to.out.published.store(to.out.filled, std::memory_order_release);  // otherwise no thread would make room
    return false;
  }
  const auto lead = static_cast<std::uint8_t>(reinterpret_cast<std::uintptr_t>(source.data()) % kUnitBytes);
  std::span<const std::byte> rest = source;
  std::size_t frame_bytes = 0;
  do {
    const auto part = rest.first(std::min(rest.size(), kMaxFrameBytes));
    rest = rest.subspan(part.size());
    FrameHeader header{offset, static_cast<std::uint32_t>(part.size()), 0, FrameType::Write, lead};
    // Computed now, while the cache has the bytes.
    if (settings_.integrity) header.payload_check = crc32c(part);
    queue(to, header, part.data(), rest.empty());
    offset += part.size();
    frame_bytes += header.bytes();
  } while (!rest.empty());
  lane_counters(lane, peer).add(1, source.size(), frame_bytes);
  return true;
}

bool Tcp::signal(int lane, int peer, int kind, std::uint64_t count) noexcept {
  if (!queue(link(lane, peer), {count, 0, static_cast<std::uint16_t>(kind), FrameType::Signal, 0}, nullptr,
             false))
    return false;
  lane_counters(lane, peer).add(0, 0, sizeof(FrameHeader));
  return true;
}

bool Tcp::queue(Link& link, const FrameHeader& header, const std::byte* payload, bool ends_write) noexcept {
  SendQueue& out = link.out;
  if (out.filled - out.reusable.load(std::memory_order_acquire) == SendQueue::kFrames) {
    out.published.store(out.filled, std::memory_order_release);
    return false;
  }
  SendQueue::Frame& frame = out.frames[out.filled % SendQueue::kFrames];
  frame = {header, payload, ends_write};
  if (settings_.integrity) frame.header.check = header.right_check();
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

/// Sends what is published until the socket has no more room. If another thread is doing that, it returns:
/// the other thread looks again before it finishes.
void Tcp::flush(Link& link) noexcept {
  SendQueue& out = link.out;
  const auto pending = [&] {
    return out.published.load() != out.sent.load(std::memory_order_acquire) && !out.blocked.load() &&
           !link.in.ended.load(std::memory_order_relaxed);
  };
  bool progress = false;
  while ((pending() || out.notified.load()) && !out.busy.test_and_set()) {
    if (out.notified.exchange(false)) {  // cleared first: a report that comes meanwhile must not be lost
      reap(link);
      progress = true;
    }
    while (pending() && send_some(link)) progress = true;
    out.busy.clear();
  }
  if (progress) announce();
}

/// Makes one call to the system. Returns false when it sent nothing.
bool Tcp::send_some(Link& link) noexcept {
  SendQueue& out = link.out;
  const std::uint64_t first = out.sent.load(std::memory_order_relaxed);
  const std::uint64_t last = std::min(out.published.load(std::memory_order_acquire), first + kBatchFrames);
  Pieces pieces;
  std::size_t skip = out.sent_bytes;
  for (std::uint64_t i = first; i < last; ++i) {
    const SendQueue::Frame& frame = out.frames[i % SendQueue::kFrames];
    pieces.add(&frame.header, sizeof frame.header, skip);
    pieces.add(kNothing.data(), frame.header.lead, skip);
    pieces.add(frame.payload, frame.header.length, skip);
    pieces.add(kNothing.data(), frame.header.tail(), skip);
  }
  msghdr message{};
  message.msg_iov = pieces.pieces.data();
  message.msg_iovlen = pieces.count;
  constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
  bool zero_copy =
      out.zero_copy && !out.calls.full() && pieces.total_bytes / (last - first) >= kZeroCopyBytes;
  // This comes before the call: when room appears right after it, poll() clears this.
  out.blocked.store(true);
  ssize_t sent = sendmsg(link.socket.get(), &message, kFlags | (zero_copy ? MSG_ZEROCOPY : 0));
  if (sent < 0 && errno == ENOBUFS && zero_copy) {  // too many pages held for now
    zero_copy = false;
    sent = sendmsg(link.socket.get(), &message, kFlags);
  }
  if (sent < 0) {
    if (errno == EAGAIN) return false;
    if (errno == EINTR) {
      out.blocked.store(false);
      return true;
    }
    out.error.store(errno, std::memory_order_relaxed);
    link.in.readable.store(true,
                           std::memory_order_release);  // pairs with exchange in receive(), which reports it
    return false;
  }
  out.blocked.store(false);
  if (zero_copy) {
    out.calls.add({first, out.sent_writes});
    zero_copy_sends_.fetch_add(1, std::memory_order_relaxed);
  }
  std::size_t done = out.sent_bytes + static_cast<std::size_t>(sent);
  std::uint64_t frames = first;
  for (; frames < last; ++frames) {
    const SendQueue::Frame& frame = out.frames[frames % SendQueue::kFrames];
    if (done < frame.header.bytes()) break;
    done -= frame.header.bytes();
    out.sent_writes += frame.ends_write ? 1 : 0;
  }
  out.sent_bytes = done;
  out.sent.store(frames, std::memory_order_release);
  release(out);
  return true;
}

/// Reads the system's reports on zero-copy sends. If the system has copied anyway, as it does between hosts
/// of one machine, zero copy only costs time, and the link stops using it.
void Tcp::reap(Link& link) noexcept {
  SendQueue& out = link.out;
  alignas(cmsghdr) std::array<char, 128> control;
  while (true) {
    msghdr message{};
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (recvmsg(link.socket.get(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) break;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
      sock_extended_err told;
      const bool is_error = (part->cmsg_level == SOL_IP && part->cmsg_type == IP_RECVERR) ||
                            (part->cmsg_level == SOL_IPV6 && part->cmsg_type == IPV6_RECVERR);
      if (!is_error || part->cmsg_len < CMSG_LEN(sizeof told)) continue;
      std::memcpy(&told, CMSG_DATA(part), sizeof told);
      if (told.ee_origin != SO_EE_ORIGIN_ZEROCOPY || told.ee_errno != 0) continue;
      out.calls.done(told.ee_info, told.ee_data);
      if ((told.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) == 0) continue;
      copied_sends_.fetch_add(1, std::memory_order_relaxed);
      out.zero_copy = false;
    }
  }
  release(out);
}

}  // namespace edgewire::transport
