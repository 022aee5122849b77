#include "channel/record_stream.h"

#include <numeric>

#include "channel/region_plan.h"

namespace edgewire::channel {
namespace {

/// Returns 1 MiB, or less where there are many rings: they take 256 MiB of a process at most, if records fit.
std::size_t usual_ring_bytes(int lanes, int size, std::size_t record_bytes) {
  const auto rings = static_cast<std::size_t>(lanes) * size;
  const std::size_t bytes = (std::size_t{256} << 20) / rings / 64 * 64;
  const std::size_t least = std::max<std::size_t>(4096, 8 * ((record_bytes + 127) / 64 * 64));
  return std::clamp(bytes, least, std::max(least, std::size_t{1} << 20));
}

}  // namespace

RecordStream::RecordStream(launch::Bootstrap& bootstrap, process::LocalProcess& process,
                           transport::Transport& link, std::size_t record_bytes)
    : pool_(process.pool()),
      link_(link),
      health_(bootstrap.health()),
      record_bytes_(record_bytes),
      rank_(bootstrap.rank()),
      size_(bootstrap.size()),
      oversubscribed_(process.oversubscribed()),
      writes_(static_cast<std::size_t>(pool_.workers()) * size_),
      bytes_sent_(pool_.workers()),
      supersteps_(bytes_sent_.size(), 1),
      batches_(writes_.size()) {
  const RingSettings settings{.rank = rank_,
                              .size = size_,
                              .lanes = pool_.workers(),
                              .record_bytes = record_bytes,
                              .ring_bytes = usual_ring_bytes(pool_.workers(), size_, record_bytes)};
  RegionPlan plan(size_);
  std::vector<std::size_t> bytes(size_, settings.part_bytes());
  bytes[rank_] = 0;
  const std::size_t part = plan.add("rings", std::move(bytes));
  const auto region = plan.expose(bootstrap, link_);
  rings_ = std::make_unique<Rings>(link_, health_, settings, region.bytes(),
                                   ring_places(region, part, settings), writes_);
}

std::size_t RecordStream::memory_bytes(int lanes, int size, std::size_t record_bytes) {
  return static_cast<std::size_t>(lanes) * (size - 1) * usual_ring_bytes(lanes, size, record_bytes);
}

std::uint64_t RecordStream::bytes_sent() const noexcept {
  return std::accumulate(bytes_sent_.begin(), bytes_sent_.end(), std::uint64_t{0});
}

}  // namespace edgewire::channel
