// Large bodies of messages stay in the memory of their sender, and the receiver reads them from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "channel/region_plan.h"
#include "transport/transport.h"

namespace edgewire::tasks {

/// The place of a body. It is a part of a message.
struct Placed {
  std::uint64_t position = 0;  ///< place in the ring, in bytes since the start
  std::uint64_t bytes = 0;
};

/// A ring for each lane and peer in this process's region. The peer reads it one-sidedly: where its memory is
/// mapped (shm), or over the link (verbs). Bodies are read in the order in which they were placed. Calls with
/// a lane belong to the worker of that lane.
class ReadArea {
 public:
  /// The least bytes of a body here: shorter ones travel in messages.
  static constexpr std::size_t kLeast = std::size_t{16} << 10;

  /// Returns the bytes of one ring; 0 where no peer reads.
  static std::size_t ring_bytes(const transport::Transport& link, int lanes, int size);

  /// Makes the rings. `part` has lanes * ring_bytes() for each peer. `link` and `region` outlive it.
  ReadArea(transport::Transport& link, const channel::Region& region, std::size_t part, int lanes, int size);

  /// Copies a body for the peer. Returns nothing where it is short, or has no room, or the peer cannot read.
  std::optional<Placed> place(int lane, int peer, std::string_view body);
  /// Returns whether the peer's memory is mapped, so that view() needs no fetch().
  bool is_mapped(int peer) const noexcept { return link_.remote_ptr(peer, 0) != nullptr; }
  /// Begins to fetch a body that the peer has placed. Returns false where the link has no room yet. When this
  /// write of the link has completed, view() has the body until the lane's next fetch(). Throws as view().
  bool fetch(int lane, int peer, const Placed& placed);
  /// Returns a body that the peer has placed, valid until read(). Throws Error when there is no such place.
  std::string_view view(int lane, int peer, const Placed& placed) const;
  /// Ends the use of view(). Returns the position to tell the peer, when enough was read to be worth it.
  std::optional<std::uint64_t> read(int lane, int peer, const Placed& placed);
  /// Takes the position that the peer has told. Throws Error when it cannot have read so far.
  void release(int lane, int peer, std::uint64_t position);
  /// Drops all bodies. This is called when the peers read no more on this lane.
  void clear(int lane);

 private:
  struct Ring {
    std::uint64_t end = 0, released = 0;  ///< end of the placed bytes, and of those that the peer has read
    std::uint64_t told = 0;               ///< position up to which the peer was told of its placed bytes
  };

  void check(int peer, const Placed& placed) const;
  /// Returns where the body is in the region of the peer.
  std::size_t place_of(int lane, int peer, const Placed& placed) const noexcept {
    return region_.remote_offset(part_, peer) + static_cast<std::size_t>(lane) * bytes_ +
           placed.position % bytes_;
  }
  std::span<std::byte> sink(int lane, std::size_t bytes) const noexcept {
    return sinks_.subspan(static_cast<std::size_t>(lane) * most_fetched_, bytes);
  }
  Ring& ring(int lane, int peer) noexcept {
    return rings_[static_cast<std::size_t>(lane) * size_ + static_cast<std::size_t>(peer)];
  }

  transport::Transport& link_;
  const channel::Region& region_;
  std::size_t part_, size_, bytes_;
  std::size_t most_fetched_;    ///< most bytes to fetch: longer bodies are not placed where a peer fetches
  std::span<std::byte> sinks_;  ///< memory of the lanes, most_fetched_ bytes each, where bodies are fetched
  std::vector<Ring> rings_;     ///< rings, [lane * size + peer]
};

}  // namespace edgewire::tasks
