#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "transport/transport.h"

namespace edgewire::transport {

/// What one lane has sent to one peer. Written by the lane's thread, read by anybody; single values, so
/// relaxed and paired with nothing.
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

/// [lane * processes + peer]; the sum over lanes.
inline std::uint64_t frame_bytes_to(const std::vector<LaneCounters>& lanes, int peer,
                                    int processes) noexcept {
  std::uint64_t bytes = 0;
  for (auto i = static_cast<std::size_t>(peer); i < lanes.size(); i += static_cast<std::size_t>(processes))
    bytes += lanes[i].frame_bytes.load(std::memory_order_relaxed);
  return bytes;
}

/// The sums that do not depend on the backend.
inline Counters sum(const std::vector<LaneCounters>& lanes) noexcept {
  Counters total;
  for (const LaneCounters& lane : lanes) {
    total.writes += lane.writes.load(std::memory_order_relaxed);
    total.payload_bytes += lane.payload_bytes.load(std::memory_order_relaxed);
    total.frame_bytes += lane.frame_bytes.load(std::memory_order_relaxed);
  }
  return total;
}

}  // namespace edgewire::transport
