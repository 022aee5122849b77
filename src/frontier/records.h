// Records (vertex, value) to the owners of their vertices, superstep by superstep, through rings.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "error.h"
#include "exchange/ring.h"
#include "launch/bootstrap.h"
#include "transport/transport.h"

namespace edgewire::frontier {

struct Record {
  std::uint32_t vertex;  ///< its local number at its owner
  std::uint32_t value;   ///< 4 bytes of any type
};

/// What was sent since the start.
struct Sent {
  std::uint64_t payload_bytes = 0, wire_bytes = 0;
};

/// Worker w sends on lane w. Functions with a lane belong to that worker; agree() and share() belong to
/// worker 0 while the others are idle. `take` is called as take(record) or as take(peer, record); the records
/// of a peer come in the order in which it sent them on the lane.
class Records {
 public:
  /// Exposes the region and connects the link. Collective; throws Error. `bootstrap` and `link` outlive this.
  /// `oversubscribed`: workers that wait block at once.
  Records(launch::Bootstrap& bootstrap, transport::Transport& link, int lanes, bool oversubscribed);

  /// Takes a record for a vertex of `peer`. While there is no room, take(record) is called for those that
  /// have arrived. Throws Error when the job has failed.
  template <class Take>
  void send(int lane, int peer, Record record, const Take& take) {
    auto& batch = batches_[index(lane, peer)];
    batch.push_back(record);
    if (batch.size() == kBatch) push(lane, peer, take);
  }
  /// Ends the superstep of this lane: sends what is left, and calls take(record) for all records of the
  /// superstep until those of all peers were taken.
  template <class Take>
  void finish(int lane, const Take& take) {
    const std::uint64_t superstep = supersteps_[static_cast<std::size_t>(lane)];
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) push(lane, peer, take);
    while (!rings_->end(lane, superstep)) make_progress(lane, take);
    for (int turns = 0; !rings_->finished(lane, superstep); ++turns) {
      if (make_progress(lane, take) > 0) turns = 0;
      if (turns > (oversubscribed_ ? 10 : 20'000)) wait();
    }
    ++supersteps_[static_cast<std::size_t>(lane)];
  }
  /// What all processes pass, in the order of their ranks: each gives as many numbers. All get the same.
  std::vector<std::uint64_t> share(std::span<const std::uint64_t> mine);
  /// The least of what all processes pass.
  std::uint64_t agree(std::uint64_t mine);

  /// By this process.
  Sent sent() const noexcept;

 private:
  static constexpr std::size_t kBatch = 256;

  std::size_t index(int lane, int peer) const noexcept {
    return static_cast<std::size_t>(lane) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(peer);
  }
  template <class Take>
  void push(int lane, int peer, const Take& take) {
    auto& batch = batches_[index(lane, peer)];
    for (std::span<const Record> left(batch); !left.empty();) {
      const auto room = rings_->reserve(lane, peer);
      const auto some = left.first(std::min(left.size(), room.size() / sizeof(Record)));
      if (some.empty()) {
        rings_->flush(lane);
        make_progress(lane, take);
        continue;
      }
      std::memcpy(room.data(), some.data(), some.size_bytes());
      rings_->publish(lane, peer, some.size());
      left = left.subspan(some.size());
    }
    batch.clear();
  }
  /// Polls and takes. Returns the number of records.
  template <class Take>
  std::size_t make_progress(int lane, const Take& take) {
    if (!link_.poll() || health_.failed()) throw Error(health_.message());
    return rings_->drain(lane, supersteps_[static_cast<std::size_t>(lane)],
                         [&](int peer, std::span<const std::byte> bytes) {
                           for (std::size_t at = 0; at < bytes.size(); at += sizeof(Record)) {
                             Record record;
                             std::memcpy(&record, &bytes[at], sizeof record);
                             if constexpr (std::is_invocable_v<Take, int, Record>)
                               take(peer, record);
                             else
                               take(record);
                           }
                         });
  }
  void wait() { link_.wait(std::chrono::microseconds(1000)); }

  transport::Transport& link_;
  transport::Health& health_;
  int rank_, size_;
  bool oversubscribed_;
  std::vector<std::uint64_t> writes_;
  std::unique_ptr<exchange::Rings> rings_;
  std::vector<std::uint64_t> supersteps_;     ///< [lane]: the one that goes on, from 1
  std::vector<std::vector<Record>> batches_;  ///< [lane * size + peer]
};

}  // namespace edgewire::frontier
