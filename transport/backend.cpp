#include "transport/backend.h"

#include <fmt/core.h>

#include "base/error.h"
#include "topology/page_nodes.h"

namespace edgewire::transport {

std::span<std::byte> BackendBase::send_memory(std::size_t bytes) {
  const std::scoped_lock lock(sources_mutex_);
  return sources_.emplace_back(bytes, -1, "sending").as<std::byte>();
}

Counters BackendBase::counters() const noexcept {
  Counters total;
  for (const LaneCounters& one : sent_) {
    total.writes += one.writes.load(std::memory_order_relaxed);
    total.payload_bytes += one.payload_bytes.load(std::memory_order_relaxed);
    total.frame_bytes += one.frame_bytes.load(std::memory_order_relaxed);
  }
  total.wire_bytes = wire_bytes_of(total.frame_bytes);
  return total;
}

std::uint64_t BackendBase::frame_bytes_to(int peer) const noexcept {
  std::uint64_t bytes = 0;
  for (int lane = 0; lane < settings_.lanes; ++lane)
    bytes += sent_[index(lane, peer)].frame_bytes.load(std::memory_order_relaxed);
  return bytes;
}

Counters NetworkBackend::counters() const noexcept {
  Counters total = BackendBase::counters();
  total.refused_frames = refused_frames_.load(std::memory_order_relaxed);
  return total;
}

std::span<std::byte> NetworkBackend::make_region(std::size_t bytes, std::span<const Part> parts,
                                                 bool small_pages) {
  parts_.assign(parts.begin(), parts.end());
  parts_.resize(settings_.size);
  for (const Part& part : parts_)
    if (part.offset > bytes || part.bytes > bytes - part.offset)
      throw Error(fmt::format("a part of {} bytes at offset {} exceeds the region of {} bytes", part.bytes,
                              part.offset, bytes));
  region_ = settings_.region;
  if (region_.empty()) {
    own_region_ = topology::NodeMemory(bytes, -1, "a region");
    region_ = own_region_.as<std::byte>();
    topology::place_pages({region_, settings_.memory_nodes, small_pages});
  }
  return region_;
}

}  // namespace edgewire::transport
