#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "transport/transport.h"

namespace edgewire::transport {

/// What one lane has sent to one peer. The lane's thread writes, any thread reads. The values are independent
/// of each other, so all accesses are relaxed and pair with nothing.
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

/// The counters of all lanes to all peers.
class LaneTable {
 public:
  LaneTable(int lanes, int processes)
      : counters_(static_cast<std::size_t>(lanes) * static_cast<std::size_t>(processes)),
        processes_(static_cast<std::size_t>(processes)) {}

  LaneCounters& at(int lane, int peer) noexcept {
    return counters_[static_cast<std::size_t>(lane) * processes_ + static_cast<std::size_t>(peer)];
  }
  std::uint64_t frame_bytes_to(int peer) const noexcept {
    std::uint64_t bytes = 0;
    for (auto i = static_cast<std::size_t>(peer); i < counters_.size(); i += processes_)
      bytes += counters_[i].frame_bytes.load(std::memory_order_relaxed);
    return bytes;
  }
  /// The sums that do not depend on the backend.
  Counters sum() const noexcept {
    Counters total;
    for (const LaneCounters& one : counters_) {
      total.writes += one.writes.load(std::memory_order_relaxed);
      total.payload_bytes += one.payload_bytes.load(std::memory_order_relaxed);
      total.frame_bytes += one.frame_bytes.load(std::memory_order_relaxed);
    }
    return total;
  }

 private:
  std::vector<LaneCounters> counters_;  ///< [lane * processes + peer]
  std::size_t processes_;
};

}  // namespace edgewire::transport
