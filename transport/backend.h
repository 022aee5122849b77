// This file has what the backends have in common: memory to send from and receive into, and counts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "base/seconds.h"
#include "edgewire/detail/memory.h"
#include "transport/transport.h"
#include "transport/wakeup.h"

namespace edgewire::transport {

/// The counts of what one lane has sent to one peer. The lane's thread writes, any thread reads. The values
/// are independent of each other, so all accesses are relaxed and pair with nothing.
struct alignas(64) LaneCounters {
  std::atomic<std::uint64_t> writes{0};
  std::atomic<std::uint64_t> payload_bytes{0};
  std::atomic<std::uint64_t> frame_bytes{0};

  void add(std::uint64_t added_writes, std::uint64_t added_payload_bytes,
           std::uint64_t added_frame_bytes) noexcept {
    writes.fetch_add(added_writes, std::memory_order_relaxed);
    payload_bytes.fetch_add(added_payload_bytes, std::memory_order_relaxed);
    frame_bytes.fetch_add(added_frame_bytes, std::memory_order_relaxed);
  }
};

/// Every backend has settings, memory to send from, and counters of what each lane has sent to each peer.
class BackendBase : public Transport {
 public:
  std::span<std::byte> send_memory(std::size_t bytes) override;
  void stored(int lane, int peer, std::size_t bytes) noexcept override {
    lane_counters(lane, peer).add(0, bytes, bytes);
  }
  Counters counters() const noexcept override;
  std::uint64_t frame_bytes_to(int peer) const noexcept override;

 protected:
  explicit BackendBase(const Settings& settings)
      : settings_(settings), sent_(static_cast<std::size_t>(settings.lanes) * settings.size) {}

  /// Returns where the entry of a lane and a peer lies in a table of all lanes and peers.
  std::size_t index(int lane, int peer) const noexcept {
    return static_cast<std::size_t>(peer) * settings_.lanes + lane;
  }
  LaneCounters& lane_counters(int lane, int peer) noexcept { return sent_[index(lane, peer)]; }

  Settings settings_;
  LastLook last_look_;

 private:
  std::vector<LaneCounters> sent_;  ///< counters by index()
  std::mutex sources_mutex_;
  std::vector<topology::NodeMemory> sources_;  ///< the memory that writes come from
};

/// A backend whose peers' memory is not mapped here. What peers write and signal arrives over a network.
class NetworkBackend : public BackendBase {
 public:
  std::byte* remote_ptr(int, std::size_t) const noexcept override { return nullptr; }
  std::uint64_t signalled(int peer, int kind) const noexcept override {
    return signal_count(peer, kind)
        .load(std::memory_order_acquire);  // pairs with raise() where signals arrive
  }
  std::uint32_t arrivals() const noexcept override { return wakeup_.generation(); }
  Counters counters() const noexcept override;

 protected:
  explicit NetworkBackend(const Settings& settings)
      : BackendBase(settings),
        signals_(std::make_unique<std::atomic<std::uint64_t>[]>(static_cast<std::size_t>(settings.size) *
                                                                settings.kinds)) {}

  /// Makes the region, or takes that of the settings, and remembers which part belongs to which peer. Peers
  /// without an entry in `parts` have an empty part. Throws Error when a part exceeds the region. For
  /// `small_pages` see topology::PlacedMemory.
  std::span<std::byte> make_region(std::size_t bytes, std::span<const Part> parts, bool small_pages);
  /// Returns whether these bytes of the region lie in the part that the peer may write to.
  bool may_write(int peer, std::uint64_t offset, std::uint64_t bytes) const noexcept {
    const Part& part = parts_[peer];
    return offset >= part.offset && offset - part.offset <= part.bytes &&
           bytes <= part.bytes - (offset - part.offset);
  }
  std::atomic<std::uint64_t>& signal_count(int peer, int kind) const noexcept {
    return signals_[static_cast<std::size_t>(peer) * settings_.kinds + kind];
  }

  std::vector<Part> parts_;  ///< parts of the region by peer
  std::span<std::byte> region_;
  std::atomic<std::uint64_t> refused_frames_{0};  ///< paired with nothing
  Wakeup wakeup_;

 private:
  topology::NodeMemory own_region_;  ///< memory of the region; none when the settings name another
  std::unique_ptr<std::atomic<std::uint64_t>[]> signals_;  ///< counts of signals by peer and kind
};

}  // namespace edgewire::transport
