#include <fmt/core.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "transport/sockets.h"
#include "transport/tcp.h"

namespace edgewire::transport {
namespace {

/// Least bytes of a large payload, which should not pass through staging.
constexpr std::size_t kLargeBytes = 16384;
/// Number of bytes read with the end of a large payload: tail, signal, and what precedes the next payload.
constexpr std::size_t kAheadBytes = 4 * kUnitBytes;
constexpr std::size_t kTurnBytes = std::size_t{1}
                                   << 22;  ///< bytes read from one connection before others get their turn
constexpr std::chrono::milliseconds kExplainLimit{200};
/// Returns whether the error says nothing of the peer: a container or a firewall of this host refuses.
constexpr bool is_refusal(int error) { return error == EPERM || error == ENOSYS; }
static_assert(kAheadBytes + sizeof(FrameHeader) <= Arrivals::kStagingBytes);

}  // namespace

/// Takes what has arrived. If another thread is at it, that thread looks again before it finishes.
void Tcp::receive(Link& link) noexcept {
  Arrivals& in = link.in;
  bool more = true;
  while (more && in.readable.load() && !in.busy.test_and_set()) {
    in.readable.store(false);  // cleared first: an event that comes while reading must not be lost
    more = read(link);
    in.busy.clear();
  }
}

/// Reads until the socket is empty or the connection has ended. Returns false when it stops earlier, to let
/// other connections have their turn.
bool Tcp::read(Link& link) noexcept {
  Arrivals& in = link.in;
  std::size_t turn_bytes = 0;
  while (!in.ended.load(std::memory_order_relaxed) && take_staged(link)) {
    if (turn_bytes >= kTurnBytes) {
      in.readable.store(true);
      announce();  // no thread may sleep now
      return false;
    }
    std::memmove(in.staging.data(), in.staging.data() + in.begin, in.end - in.begin);
    in.end -= std::exchange(in.begin, 0);
    const std::size_t direct = in.skip > 0 ? 0 : in.payload_left;
    const std::size_t ahead = in.payload_left > 0 && in.large ? kAheadBytes : in.staging.size() - in.end;
    std::array<iovec, 2> pieces{iovec{in.place, direct}, iovec{in.staging.data() + in.end, ahead}};
    msghdr message{};
    message.msg_iov = pieces.data() + (direct > 0 ? 0 : 1);
    message.msg_iovlen = direct > 0 ? 2 : 1;
    const std::size_t wanted = direct + ahead;
    const ssize_t got = recvmsg(link.socket.get(), &message, MSG_DONTWAIT);
    if (got <= 0) {
      if (got < 0 && errno == EINTR) continue;
      const int error = got == 0 ? 0 : errno;
      // A failed send does not show in what receiving returns.
      if (error != EAGAIN || is_refusal(link.out.error.load(std::memory_order_relaxed)))
        end(link, error == EAGAIN ? 0 : error);
      break;
    }
    const auto bytes = static_cast<std::size_t>(got);
    const std::size_t now_placed = std::min(bytes, direct);
    in.end += bytes - now_placed;
    turn_bytes += bytes;
    if (now_placed > 0 && !placed(link, now_placed)) return true;
    // A short read has emptied the socket, unless its end is near.
    if (bytes < wanted && !in.hung_up.load()) {
      take_staged(link);
      break;
    }
  }
  return true;
}

/// Takes all whole frames in staging and the start of a payload. Returns false when the connection has ended.
bool Tcp::take_staged(Link& link) noexcept {
  Arrivals& in = link.in;
  while (true) {
    const std::size_t skipped = std::min(in.skip, in.end - in.begin);
    in.begin += skipped;
    in.skip -= skipped;
    if (in.skip > 0) return true;
    if (in.payload_left > 0) {
      const std::size_t bytes = std::min(in.payload_left, in.end - in.begin);
      std::memcpy(in.place, in.staging.data() + in.begin, bytes);
      in.begin += bytes;
      if (!placed(link, bytes)) return false;
      if (in.payload_left > 0) return true;
    }
    if (in.tail > 0) {
      in.skip = std::exchange(in.tail, 0);
      continue;
    }
    FrameHeader header;
    if (in.end - in.begin < sizeof header) return true;
    std::memcpy(&header, in.staging.data() + in.begin, sizeof header);
    in.begin += sizeof header;
    if (!take_frame(link, header)) return false;
  }
}

/// Notes that the next `bytes` of a payload lie in place. Returns false at the end of one that was changed.
bool Tcp::placed(Link& link, std::size_t bytes) noexcept {
  Arrivals& in = link.in;
  if (settings_.integrity) in.crc = crc32c({in.place, bytes}, in.crc);
  in.place += bytes;
  in.payload_left -= bytes;
  return !settings_.integrity || in.payload_left > 0 || in.crc == in.awaited || refuse_changed(link);
}

bool Tcp::take_frame(Link& link, const FrameHeader& header) noexcept {
  Arrivals& in = link.in;
  if (settings_.integrity && header.check != header.right_check()) return refuse_changed(link);
  switch (header.type) {
    case FrameType::Write: {
      if (!may_write(link.peer, header.offset, header.length) || header.length > kMaxFrameBytes)
        return refuse_frame(link, fmt::format("{} bytes at offset {}, outside its part of the region",
                                              header.length, header.offset));
      if (header.lead >= kUnitBytes)
        return refuse_frame(link, fmt::format("{} bytes at offset {} behind a lead of {}", header.length,
                                              header.offset, header.lead));
      in.place = region_.data() + header.offset;
      in.payload_left = header.length;
      in.crc = 0;
      in.awaited = header.payload_check;
      in.large = header.length >= kLargeBytes;
      in.skip = header.lead;
      in.tail = header.tail();
      return true;
    }
    case FrameType::Signal:
      if (header.kind >= settings_.kinds || header.length != 0)
        return refuse_frame(link, fmt::format("a signal of kind {}", header.kind));
      raise(signal_count(link.peer, header.kind), header.offset);
      announce();
      return true;
    case FrameType::Goodbye:
      in.goodbye = true;
      return true;
  }
  return refuse_frame(link, fmt::format("a frame of type {}", static_cast<int>(header.type)));
}

/// Refuses bytes that were changed.
bool Tcp::refuse_changed(Link& link) noexcept {
  return refuse(
      link, corrupt_frames_,
      fmt::format("data from rank {} at {} was changed on its way to {} (TCP, lane {}, "
                  "wrong CRC-32C): {}",
                  link.peer, peer_address(link.socket), settings_.address, link.lane, kChangedRemedy));
}

bool Tcp::refuse_frame(Link& link, const std::string& cause) noexcept {
  return refuse(link, refused_frames_, fmt::format("rank {} sent {}", link.peer, cause));
}

/// Fails the job. Nothing that follows on the connection takes effect.
bool Tcp::refuse(Link& link, std::atomic<std::uint64_t>& count, const std::string& message) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  settings_.health->fail(link.peer, message);
  link.in.ended.store(true, std::memory_order_relaxed);
  announce();
  return false;
}

/// Ends the connection. This is a failure unless the peer said goodbye.
void Tcp::end(Link& link, int error) noexcept {
  link.in.error = error != 0 ? error : link.out.error.load(std::memory_order_relaxed);
  link.in.ended.store(true, std::memory_order_relaxed);
  if (is_refusal(link.in.error))
    settings_.health->fail(-1, fmt::format("cannot send to rank {} over TCP, or receive from it: {}",
                                           link.peer, reason(link.in.error)));
  if (!link.in.goodbye) note_lost(link);
  announce();
}

void Tcp::note_lost(Link& link) noexcept {
  link.in.lost.store(true, std::memory_order_release);  // pairs with report_lost()
  if (losing_.test_and_set(std::memory_order_acquire)) return;
  lost_at_ = Clock::now();
  lost_.store(&link, std::memory_order_release);
}

/// Reports which peer was lost, a moment after it happened. If that peer only ended because another one had
/// failed, the bootstrap names the first one in the meantime. A connection that has timed out has no such
/// cause, and the other end, which only sees a reset, is to hear of the timeout first.
void Tcp::report_lost() noexcept {
  Link* link = lost_.load(std::memory_order_acquire);
  if (link == nullptr) return;
  if (link->in.error != ETIMEDOUT && Clock::now() - lost_at_ < kExplainLimit) return;
  std::string cause = link->in.error == 0 ? "connection closed" : reason(link->in.error);
  const std::string advice = link->in.error == ETIMEDOUT ? mtu_advice(link->socket, link->address) : "";
  if (!advice.empty())
    cause += fmt::format(" (its host or link is down, or the way to {} drops large packets: {})",
                         link->address, advice);
  settings_.health->lose(link->peer, fmt::format("rank {} was lost: {}", link->peer, cause));
  // If the job goes on, the next peer that is lost must be reported, too.
  if (settings_.health->failed() || !lost_.compare_exchange_strong(link, nullptr)) return;
  losing_.clear();
  for (const auto& other : links_)
    if (other != nullptr && other->in.lost.load(std::memory_order_acquire) &&
        !settings_.health->lost(other->peer))
      note_lost(*other);
}

}  // namespace edgewire::transport
