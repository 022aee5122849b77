#include "channel/ring.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>

#include <array>
#endif

namespace edgewire::channel {
namespace {

/// Tells the thread sanitizer the order between a process that publishes records and the one that drains
/// them. Tests run several processes as threads of one. What a process does before it publishes then happens
/// before all that the other one does after it has drained. But the two map their common memory at different
/// addresses, or talk through a socket, so the sanitizer would report races between workers of one process.
class PublishedOrder {
 public:
#if defined(__SANITIZE_THREAD__)
  static void publish(int from, int to) noexcept { __tsan_release(mark(from, to)); }
  static void drain(int from, int to) noexcept { __tsan_acquire(mark(from, to)); }

 private:
  /// All jobs of a test process share the marks: more order than there is may be seen, never less.
  static void* mark(int from, int to) noexcept {
    static std::array<char, 8 * 64 * 64> marks;
    return &marks[8 * (from % 64 * 64 + to % 64)];
  }
#else
  static void publish(int /*from*/, int /*to*/) noexcept {}
  static void drain(int /*from*/, int /*to*/) noexcept {}
#endif
};

}  // namespace

std::vector<RingPlace> ring_places(const Region& region, std::size_t part, const RingSettings& settings) {
  std::vector<RingPlace> places;
  for (int peer = 0; peer < settings.size; ++peer) {
    if (peer != settings.rank && region.remote_bytes(part, peer) != settings.part_bytes())
      throw Error(fmt::format("rank {} has {} bytes for our rings, not {}", peer,
                              region.remote_bytes(part, peer), settings.part_bytes()));
    places.push_back({region.offset(part, peer), region.remote_offset(part, peer)});
  }
  return places;
}

Rings::Rings(transport::Transport& link, transport::Health& health, const RingSettings& settings,
             std::span<std::byte> region, std::span<const RingPlace> places, std::span<std::uint64_t> writes)
    : link_(link),
      health_(health),
      settings_(settings),
      // A quarter of the ring, so that sender and receiver work at the same time.
      batch_bytes_(std::min(kMostBatchBytes, settings.ring_bytes / 4 / kUnit * kUnit)),
      region_(region),
      places_(places.begin(), places.end()),
      left_out_(places.size()),
      writes_(writes),
      out_(writes.size()),
      in_(std::make_unique<Incoming[]>(writes.size())) {
  if (settings.record_bytes == 0 || settings.record_bytes % 4 != 0 || settings.record_bytes > 4096)
    throw Error(fmt::format("a record of {} bytes does not fit a ring (4, 8, 12, ... 4096 bytes do)",
                            settings.record_bytes));
  if (settings.ring_bytes < 8 * kUnit || settings.ring_bytes % kUnit != 0)
    throw Error(fmt::format("a ring of {} bytes is not possible (it takes a multiple of {}, and {} at least)",
                            settings.ring_bytes, kUnit, 8 * kUnit));
  if (bytes_of_frame(settings.record_bytes) > batch_bytes_)
    throw Error(fmt::format("records of {} bytes need a ring of {} bytes at least", settings.record_bytes,
                            4 * bytes_of_frame(settings.record_bytes)));
  leave_out(settings.rank);
  std::vector<int> unmapped;
  for (int peer = 0; peer < settings.size; ++peer)
    if (peer != settings.rank && link.remote_ptr(peer, places_[peer].remote_offset) == nullptr)
      unmapped.push_back(peer);
  if (unmapped.empty()) return;
  const std::size_t rings = unmapped.size() * settings.lanes;
  std::byte* batches = link.send_memory(rings * kBatches * batch_bytes_).data();
  for (const int peer : unmapped)
    for (int lane = 0; lane < settings.lanes; ++lane, batches += kBatches * batch_bytes_)
      out_[index(lane, peer)].batches = batches;
}

// ---- the sending side --------------------------------------------------------------------------------

/// Opens a frame for at least `least_bytes`, header included. Returns false if it cannot do so now.
bool Rings::open(int lane, int peer, std::size_t least_bytes) noexcept {
  Outgoing& ring = out_[index(lane, peer)];
  const std::uint64_t drained = link_.signalled(peer, drained_kind(lane));
  if (drained > ring.begin || ring.begin - drained > settings_.ring_bytes) {
    refuse(peer, "gave credit for records that it never got");
    return false;
  }
  const std::size_t to_end = settings_.ring_bytes - ring.begin % settings_.ring_bytes;
  const std::size_t credit = settings_.ring_bytes - (ring.begin - drained);
  if (to_end < least_bytes && credit >= to_end) {
    if (!open_here(lane, peer, to_end)) return false;
    ring.header = {kSkip, static_cast<std::uint8_t>(ring.superstep)};
    std::ranges::copy(std::as_bytes(std::span(&ring.header, 1)), ring.frame);
    ring.sealed = true;
    // It opens at the start of the ring, so this does not recur.
    return push(lane, peer) && open(lane, peer, least_bytes);
  }
  const std::size_t bytes = std::min({credit, to_end, batch_bytes_});
  return bytes >= least_bytes && open_here(lane, peer, bytes);
}

bool Rings::open_here(int lane, int peer, std::size_t bytes) noexcept {
  Outgoing& ring = out_[index(lane, peer)];
  if (health_.failed()) return false;
  if (ring.batches == nullptr) {
    ring.frame = link_.remote_ptr(
        peer, places_[peer].remote_offset + lane_offset(lane) + ring.begin % settings_.ring_bytes);
  } else {
    if (link_.completed(lane, peer) < ring.busy[ring.batch]) return false;
    ring.frame = ring.batches + ring.batch * batch_bytes_;
  }
  ring.frame_bytes = bytes;
  ring.used = 0;
  return true;
}

/// Seals the frame, after which the superstep goes on.
void Rings::seal(Outgoing& ring) const noexcept {
  ring.header = {static_cast<std::uint16_t>(ring.used / settings_.record_bytes),
                 static_cast<std::uint8_t>(ring.superstep)};
  std::ranges::copy(std::as_bytes(std::span(&ring.header, 1)), ring.frame);
  ring.sealed = true;
}

/// Seals the frame with which the superstep ends.
void Rings::seal_end(Outgoing& ring, const RingNote& note) const noexcept {
  Tail tail{static_cast<std::uint32_t>(ring.in_superstep)};
  std::memcpy(tail.data() + 1, note.data(), sizeof note);
  std::size_t values = tail.size();
  while (values > 1 && tail[values - 1] == 0) --values;
  seal(ring);
  ring.header.tail = static_cast<std::uint8_t>(values);
  std::ranges::copy(std::as_bytes(std::span(&ring.header, 1)), ring.frame);
  std::memcpy(ring.frame + sizeof ring.header + ring.used, tail.data(), values * sizeof tail[0]);
}

/// Sends the sealed frame, if there is one, and tells the peer. Returns false if something is left.
bool Rings::push(int lane, int peer) noexcept {
  Outgoing& ring = out_[index(lane, peer)];
  if (ring.sealed) {
    if (!write(lane, peer, sizeof ring.header + ring.used + ring.header.tail * sizeof(std::uint32_t)))
      return false;
    ring.begin += ring.header.records == kSkip ? ring.frame_bytes : bytes_of_frame(ring.used);
    ring.frame = nullptr;
    ring.sealed = false;
    if (ring.header.tail != 0) {
      ++ring.superstep;
      ring.in_superstep = 0;
    }
  }
  if (ring.told == ring.begin) return true;
  PublishedOrder::publish(settings_.rank, peer);
  const bool told = link_.signal(lane, peer, sent_kind(lane), ring.begin);
  if (told) ring.told = ring.begin;
  link_.ring_doorbell(lane);  // a full queue needs it, too
  return told;
}

bool Rings::write(int lane, int peer, std::size_t bytes) noexcept {
  Outgoing& ring = out_[index(lane, peer)];
  if (ring.batches == nullptr) {
    link_.stored(lane, peer, bytes);
    return true;
  }
  const std::size_t remote =
      places_[peer].remote_offset + lane_offset(lane) + ring.begin % settings_.ring_bytes;
  if (!link_.write(lane, peer, remote, {ring.frame, bytes})) {
    link_.ring_doorbell(lane);
    return false;
  }
  ring.busy[ring.batch] = ++writes_[index(lane, peer)];
  ring.batch = (ring.batch + 1) % kBatches;
  return true;
}

std::span<std::byte> Rings::reserve(int lane, int peer) noexcept {
  Outgoing& ring = out_[index(lane, peer)];
  push(lane, peer);
  const std::size_t least = bytes_of_frame(settings_.record_bytes);
  if (ring.sealed || (ring.frame == nullptr && !open(lane, peer, least))) return {};
  const std::size_t room = ring.frame_bytes - kAround - ring.used;
  return {ring.frame + sizeof(FrameHeader) + ring.used,
          room / settings_.record_bytes * settings_.record_bytes};
}

void Rings::publish(int lane, int peer, std::size_t records) noexcept {
  Outgoing& ring = out_[index(lane, peer)];
  ring.used += records * settings_.record_bytes;
  ring.in_superstep += records;
  if (ring.frame_bytes - kAround - ring.used >= settings_.record_bytes) return;
  seal(ring);
  push(lane, peer);
}

bool Rings::flush(int lane) noexcept {
  bool all = true;
  for (int peer = 0; peer < settings_.size; ++peer) {
    if (left_out_[peer]) continue;
    Outgoing& ring = out_[index(lane, peer)];
    if (ring.frame != nullptr && !ring.sealed && ring.used > 0) seal(ring);
    all &= push(lane, peer);
  }
  return all;
}

bool Rings::end(int lane, std::uint64_t superstep, const RingNote& note) noexcept {
  bool all = true;
  for (int peer = 0; peer < settings_.size; ++peer) {
    if (left_out_[peer]) continue;
    Outgoing& ring = out_[index(lane, peer)];
    bool told = push(lane, peer);
    if (ring.superstep == superstep && !ring.sealed && (ring.frame != nullptr || open(lane, peer, kAround))) {
      seal_end(ring, note);
      told = push(lane, peer);
    }
    all &= told && ring.superstep > superstep;
  }
  return all;
}

// ---- the receiving side ------------------------------------------------------------------------------

std::span<const std::byte> Rings::next(int lane, int peer, std::uint64_t superstep) noexcept {
  Incoming& ring = in_[index(lane, peer)];
  while (ring.superstep.load(std::memory_order_relaxed) == superstep) {
    const std::uint64_t sent = link_.signalled(peer, sent_kind(lane));
    if (sent == ring.drained) return {};
    PublishedOrder::drain(peer, settings_.rank);
    const std::size_t at = ring.drained % settings_.ring_bytes;
    const std::size_t to_end = settings_.ring_bytes - at;
    if (sent < ring.drained || sent - ring.drained > settings_.ring_bytes || sent % kUnit != 0)
      return refuse(peer, "says that it sent more than a ring holds");
    const auto frame = region_.subspan(places_[peer].offset + lane_offset(lane) + at, to_end);
    std::memcpy(&ring.header, frame.data(), sizeof ring.header);
    const std::size_t bytes = ring.header.records * settings_.record_bytes;
    if (ring.header.superstep != static_cast<std::uint8_t>(superstep) ||
        ring.header.tail > ring.tail.size() ||
        (ring.header.records != kSkip && bytes_of_frame(bytes) > std::min(to_end, sent - ring.drained)))
      return refuse(peer, "sent records in a frame with a wrong header");
    ring.tail = {};
    if (ring.header.records != kSkip)
      std::memcpy(ring.tail.data(), frame.data() + sizeof ring.header + bytes,
                  ring.header.tail * sizeof ring.tail[0]);
    if (ring.header.records != kSkip && bytes > 0) return frame.subspan(sizeof ring.header, bytes);
    release(lane, peer);  // the frame has no records
  }
  return {};
}

void Rings::release(int lane, int peer) noexcept {
  Incoming& ring = in_[index(lane, peer)];
  if (ring.header.records == kSkip) {
    ring.drained += settings_.ring_bytes - ring.drained % settings_.ring_bytes;
  } else {
    ring.drained += bytes_of_frame(ring.header.records * settings_.record_bytes);
    ring.in_superstep += ring.header.records;
    if (ring.header.tail != 0) {
      if (ring.tail[0] != static_cast<std::uint32_t>(ring.in_superstep))
        refuse(peer, "ended a superstep with a wrong number of records");
      ring.in_superstep = 0;
      std::memcpy(ring.note.data(), ring.tail.data() + 1, sizeof ring.note);
      ring.superstep.fetch_add(1, std::memory_order_release);  // pairs with acquire in finished()
    }
  }
  credit(lane, peer);
}

/// Tells the sender the bytes that were drained, a quarter of the ring at a time. Three quarters are enough
/// for it to go on, so it need not know of the rest.
void Rings::credit(int lane, int peer) noexcept {
  Incoming& ring = in_[index(lane, peer)];
  if (ring.drained - ring.credited < settings_.ring_bytes / 4) return;
  if (link_.signal(lane, peer, drained_kind(lane), ring.drained)) ring.credited = ring.drained;
  link_.ring_doorbell(lane);
}

void Rings::settle(int lane) noexcept {
  for (int peer = 0; peer < settings_.size; ++peer) {
    if (left_out_[peer]) continue;
    push(lane, peer);
    credit(lane, peer);
  }
}

int Rings::awaited(int lane, std::uint64_t superstep) const noexcept {
  for (int peer = 0; peer < settings_.size; ++peer)
    if (!left_out_[peer] && in_[index(lane, peer)].superstep.load(std::memory_order_acquire) <=
                                superstep)  // pairs with release()
      return peer;
  return -1;
}

bool Rings::finished(std::uint64_t superstep) const noexcept {
  for (int lane = 0; lane < settings_.lanes; ++lane)
    if (!finished(lane, superstep)) return false;
  return true;
}

std::span<const std::byte> Rings::refuse(int peer, const char* cause) noexcept {
  health_.fail(peer, fmt::format("rank {} {}: one of the two processes has a fault", peer, cause));
  return {};
}

}  // namespace edgewire::channel
