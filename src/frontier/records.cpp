#include "frontier/records.h"

#include <algorithm>

#include "exchange/region_plan.h"

namespace edgewire::frontier {

namespace {

/// 1 MiB, or less where there are many rings: they take 256 MiB of a process at most.
std::size_t ring_bytes(int lanes, int size) {
  const auto rings = static_cast<std::size_t>(lanes) * static_cast<std::size_t>(size);
  const std::size_t bytes = (std::size_t{256} << 20) / rings / 64 * 64;
  return std::clamp(bytes, std::size_t{4096}, std::size_t{1} << 20);
}

}  // namespace

Records::Records(launch::Bootstrap& bootstrap, transport::Transport& link, int lanes, bool oversubscribed)
    : link_(link),
      health_(bootstrap.health()),
      rank_(bootstrap.rank()),
      size_(bootstrap.size()),
      oversubscribed_(oversubscribed),
      writes_(static_cast<std::size_t>(lanes) * static_cast<std::size_t>(size_)),
      supersteps_(static_cast<std::size_t>(lanes), 1),
      batches_(writes_.size()) {
  exchange::RingSettings settings;
  settings.rank = rank_;
  settings.size = size_;
  settings.lanes = lanes;
  settings.record_bytes = sizeof(Record);
  settings.ring_bytes = ring_bytes(lanes, size_);
  exchange::RegionPlan plan(size_);
  std::vector<std::size_t> bytes(static_cast<std::size_t>(size_), settings.part_bytes());
  bytes[static_cast<std::size_t>(rank_)] = 0;
  const std::size_t part = plan.add("rings", std::move(bytes));
  const auto region = plan.expose(bootstrap, link);
  rings_ = std::make_unique<exchange::Rings>(link, health_, settings, region.bytes(),
                                             exchange::ring_places(region, part, settings), writes_);
}

std::uint64_t Records::agree(std::uint64_t mine) {
  const Record record{static_cast<std::uint32_t>(mine), static_cast<std::uint32_t>(mine >> 32)};
  std::uint64_t least = mine;
  const auto take = [&](Record other) {
    least = std::min(least, std::uint64_t{other.value} << 32 | other.vertex);
  };
  for (int peer = 0; peer < size_; ++peer)
    if (peer != rank_) send(0, peer, record, take);
  finish(0, take);
  return least;
}

Sent Records::sent() const noexcept {
  const auto counters = link_.counters();
  return {counters.payload_bytes, counters.wire_bytes};
}

}  // namespace edgewire::frontier
