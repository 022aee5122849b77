// Records of one size to other processes, superstep by superstep, through rings: batches at the sender, and
// waits that take what arrives.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "error.h"
#include "exchange/ring.h"
#include "launch/bootstrap.h"
#include "transport/transport.h"

namespace edgewire::exchange {

/// Worker w sends on lane w; functions with a lane belong to that worker. `take` is called as take(peer,
/// bytes) with whole records; those of a peer come in the order in which it sent them on the lane.
class RecordStream {
 public:
  /// Exposes the region and connects the link. Collective; throws Error. `bootstrap` and `link` outlive this.
  /// `oversubscribed`: workers that wait block at once. `record_bytes`: see RingSettings.
  RecordStream(launch::Bootstrap& bootstrap, transport::Transport& link, int lanes, bool oversubscribed,
               std::size_t record_bytes);

  /// Sends a record to `peer`. While there is no room, take() is called for what has arrived. Throws Error
  /// when the job has failed. `bytes`: record_bytes of the constructor; a constant is copied faster.
  template <class Take>
  void send(int lane, int peer, const void* record, std::size_t bytes, const Take& take) {
    auto& batch = batches_[index(lane, peer)];
    const auto* const first = static_cast<const std::byte*>(record);
    batch.insert(batch.end(), first, first + bytes);
    if (batch.size() >= kBatchBytes) push(lane, peer, take);
  }
  /// Ends the superstep of this lane: sends what is left, and calls take() for all records of the superstep
  /// until those of all peers were taken.
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

  /// Bytes of memory that the rings of a process take.
  static std::size_t memory_bytes(int lanes, int size, std::size_t record_bytes);

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  std::size_t record_bytes() const noexcept { return record_bytes_; }
  /// Of all records that were sent on this lane, without anything around them. May be set back.
  std::uint64_t& bytes_sent(int lane) noexcept { return bytes_sent_[static_cast<std::size_t>(lane)]; }
  /// Of all lanes. Not while workers send.
  std::uint64_t bytes_sent() const noexcept;
  transport::Counters counters() const noexcept { return link_.counters(); }

 private:
  static constexpr std::size_t kBatchBytes = 2040;  ///< of 8-byte or 12-byte records a whole number

  std::size_t index(int lane, int peer) const noexcept {
    return static_cast<std::size_t>(lane) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(peer);
  }
  template <class Take>
  void push(int lane, int peer, const Take& take) {
    auto& batch = batches_[index(lane, peer)];
    for (auto left = std::span<const std::byte>(batch); !left.empty();) {
      const auto room = rings_->reserve(lane, peer);
      const auto some = left.first(std::min(left.size(), room.size() / record_bytes_ * record_bytes_));
      if (some.empty()) {
        rings_->flush(lane);
        make_progress(lane, take);
        continue;
      }
      std::memcpy(room.data(), some.data(), some.size());
      rings_->publish(lane, peer, some.size() / record_bytes_);
      left = left.subspan(some.size());
    }
    bytes_sent_[static_cast<std::size_t>(lane)] += batch.size();
    batch.clear();
  }
  /// Polls and takes. Returns the number of records.
  template <class Take>
  std::size_t make_progress(int lane, const Take& take) {
    if (!link_.poll() || health_.failed()) throw Error(health_.message());
    return rings_->drain(lane, supersteps_[static_cast<std::size_t>(lane)], take);
  }
  void wait() { link_.wait(std::chrono::microseconds(1000)); }

  transport::Transport& link_;
  transport::Health& health_;
  std::size_t record_bytes_;
  int rank_, size_;
  bool oversubscribed_;
  std::vector<std::uint64_t> writes_;
  std::unique_ptr<Rings> rings_;
  std::vector<std::uint64_t> bytes_sent_;        ///< [lane]
  std::vector<std::uint64_t> supersteps_;        ///< [lane]: the one that goes on, from 1
  std::vector<std::vector<std::byte>> batches_;  ///< [lane * size + peer]: records
};

}  // namespace edgewire::exchange
