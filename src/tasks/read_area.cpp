#include "tasks/read_area.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace edgewire::tasks {

namespace {

constexpr std::size_t kMost = std::size_t{256} << 20;       // most bytes of all rings of a process
constexpr std::size_t kMostLocked = std::size_t{16} << 20;  // most bytes where a card must know the memory
constexpr std::size_t kMostFetched = std::size_t{2} << 20;  // most bytes that a lane fetches at once

std::size_t whole_lines(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

std::size_t ReadArea::ring_bytes(const transport::Transport& link, int lanes, int size) {
  const std::size_t most = link.name().starts_with("shm") ? kMost : link.can_read(0) ? kMostLocked : 0;
  const std::size_t rings = static_cast<std::size_t>(lanes) * static_cast<std::size_t>(size);
  return std::min(most / rings, most / 8) / 4096 * 4096;  // whole pages
}

ReadArea::ReadArea(transport::Transport& link, const channel::Region& region, std::size_t part, int lanes,
                   int size)
    : link_(link),
      region_(region),
      part_(part),
      size_(static_cast<std::size_t>(size)),
      bytes_(ring_bytes(link, lanes, size)),
      most_fetched_(std::min(bytes_, kMostFetched)),
      rings_(static_cast<std::size_t>(lanes) * size_) {
  bool fetches = false;
  for (int peer = 0; peer < size; ++peer) fetches = fetches || link.can_read(peer);
  if (fetches && bytes_ > 0) sinks_ = link.send_memory(static_cast<std::size_t>(lanes) * most_fetched_);
  const std::size_t whole = static_cast<std::size_t>(lanes) * bytes_;
  for (int peer = 0; peer < size; ++peer)
    if (const std::size_t theirs = region.remote_bytes(part, peer);
        theirs != whole && theirs != 0)  // 0: the peer's memory is mapped here
      throw Error(fmt::format("rank {} has {} bytes for tasks to read, not {}", peer, theirs, whole));
}

std::optional<Placed> ReadArea::place(int lane, int peer, std::string_view body) {
  if (body.size() < kLeast || body.size() > bytes_) return {};
  if (!is_mapped(peer) && (!link_.can_read(peer) || body.size() > most_fetched_)) return {};
  Ring& to = ring(lane, peer);
  const std::size_t room = bytes_ - to.end % bytes_;
  const std::uint64_t begin = room < body.size() ? to.end + room : to.end;  // the body lies in one piece
  const std::uint64_t end = begin + whole_lines(body.size());
  if (end - to.released > bytes_) return {};
  std::memcpy(region_.bytes().data() + region_.offset(part_, peer) + static_cast<std::size_t>(lane) * bytes_ +
                  begin % bytes_,
              body.data(), body.size());
  link_.stored(lane, peer, body.size());
  to.end = end;
  return Placed{begin, body.size()};
}

void ReadArea::check(int peer, const Placed& placed) const {
  const std::size_t most = is_mapped(peer) ? bytes_ : link_.can_read(peer) ? most_fetched_ : 0;
  if (most == 0 || placed.bytes > most || placed.position % bytes_ > bytes_ - placed.bytes)
    throw Error(fmt::format("rank {} sent a message that lies where nothing can be read", peer));
}

bool ReadArea::fetch(int lane, int peer, const Placed& placed) {
  check(peer, placed);
  if (!link_.read_remote(lane, peer, place_of(lane, peer, placed), sink(lane, placed.bytes))) return false;
  link_.ring_doorbell(lane);
  return true;
}

std::string_view ReadArea::view(int lane, int peer, const Placed& placed) const {
  check(peer, placed);
  const std::byte* const bytes = is_mapped(peer) ? link_.remote_ptr(peer, place_of(lane, peer, placed))
                                                 : sink(lane, placed.bytes).data();
  return {reinterpret_cast<const char*>(bytes), placed.bytes};
}

std::optional<std::uint64_t> ReadArea::read(int lane, int peer, const Placed& placed) {
  Ring& from = ring(lane, peer);
  const std::uint64_t position = placed.position + whole_lines(placed.bytes);
  if (position - from.told < bytes_ / 4) return {};
  return from.told = position;
}

void ReadArea::release(int lane, int peer, std::uint64_t position) {
  Ring& to = ring(lane, peer);
  if (position < to.released || position > to.end)
    throw Error(fmt::format("rank {} has read bytes that were not sent", peer));
  to.released = position;
}

void ReadArea::clear(int lane) {
  std::fill_n(rings_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(lane) * size_), size_,
              Ring{});
}

}  // namespace edgewire::tasks
