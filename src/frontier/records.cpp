#include "frontier/records.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

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

Records::Records(launch::Bootstrap& bootstrap, transport::Transport& link, int lanes, bool oversubscribed,
                 std::size_t record_bytes)
    : link_(link),
      health_(bootstrap.health()),
      record_bytes_(record_bytes),
      rank_(bootstrap.rank()),
      size_(bootstrap.size()),
      oversubscribed_(oversubscribed),
      writes_(static_cast<std::size_t>(lanes) * static_cast<std::size_t>(size_)),
      record_bytes_sent_(static_cast<std::size_t>(lanes)),
      supersteps_(static_cast<std::size_t>(lanes), 1),
      batches_(writes_.size()) {
  exchange::RingSettings settings;
  settings.rank = rank_;
  settings.size = size_;
  settings.lanes = lanes;
  settings.record_bytes = record_bytes;
  settings.ring_bytes = ring_bytes(lanes, size_);
  exchange::RegionPlan plan(size_);
  std::vector<std::size_t> bytes(static_cast<std::size_t>(size_), settings.part_bytes());
  bytes[static_cast<std::size_t>(rank_)] = 0;
  const std::size_t part = plan.add("rings", std::move(bytes));
  const auto region = plan.expose(bootstrap, link);
  rings_ = std::make_unique<exchange::Rings>(link, health_, settings, region.bytes(),
                                             exchange::ring_places(region, part, settings), writes_);
}

std::vector<std::uint64_t> Records::share(std::span<const std::uint64_t> mine) {
  return record_bytes_ == sizeof(Record) ? share_as<Record>(mine) : share_as<WideRecord>(mine);
}

template <class Any>
std::vector<std::uint64_t> Records::share_as(std::span<const std::uint64_t> mine) {
  std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(size_));
  std::vector<std::size_t> taken(static_cast<std::size_t>(size_));
  const std::uint64_t bytes_before = record_bytes_sent_[0];
  std::ranges::copy(mine, &all[mine.size() * static_cast<std::size_t>(rank_)]);
  const auto take = [&](int peer, const Any& record) {
    const auto from = static_cast<std::size_t>(peer);
    if (taken[from] == mine.size()) throw Error(fmt::format("rank {} shared too many numbers", peer));
    std::memcpy(&all[from * mine.size() + taken[from]++], &record, sizeof(std::uint64_t));
  };
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    for (const std::uint64_t number : mine) {
      Any record{};
      std::memcpy(&record, &number, sizeof number);
      send(0, peer, record, take);
    }
  }
  finish<Any>(0, take);
  record_bytes_sent_[0] = bytes_before;  // these were no records of the kernel
  return all;
}

std::uint64_t Records::agree(std::uint64_t mine) { return std::ranges::min(share(std::span(&mine, 1))); }

Sent Records::sent() const noexcept {
  const auto counters = link_.counters();
  return {std::accumulate(record_bytes_sent_.begin(), record_bytes_sent_.end(), std::uint64_t{0}),
          counters.payload_bytes, counters.wire_bytes};
}

}  // namespace edgewire::frontier
