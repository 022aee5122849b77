// Records (vertex, value) to the owners of their vertices, superstep by superstep, through rings.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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

/// A record of a double.
struct WideRecord {
  std::uint32_t vertex;
  std::array<std::uint32_t, 2> value;

  WideRecord() = default;
  WideRecord(std::uint32_t v, double x) : vertex(v), value(std::bit_cast<std::array<std::uint32_t, 2>>(x)) {}
  double number() const { return std::bit_cast<double>(value); }
};

/// What a process has sent.
struct Sent {
  std::uint64_t record_bytes =
      0;  ///< what had to be sent: records of the kernel, without anything around them
  std::uint64_t payload_bytes = 0, wire_bytes = 0;
};

/// Worker w sends on lane w. Functions with a lane belong to that worker; agree() and share() belong to
/// worker 0 while the others are idle. `take` is called as take(record) or as take(peer, record); the records
/// of a peer come in the order in which it sent them on the lane. All records of a job have the same type,
/// `Any` below: Record or WideRecord.
class Records {
 public:
  /// Exposes the region and connects the link. Collective; throws Error. `bootstrap` and `link` outlive this.
  /// `oversubscribed`: workers that wait block at once. `record_bytes`: of a Record or a WideRecord.
  Records(launch::Bootstrap& bootstrap, transport::Transport& link, int lanes, bool oversubscribed,
          std::size_t record_bytes);

  /// Takes a record for a vertex of `peer`. While there is no room, take(record) is called for those that
  /// have arrived. Throws Error when the job has failed.
  template <class Any = Record, class Take>
  void send(int lane, int peer, const Any& record, const Take& take) {
    auto& batch = batches_[index(lane, peer)];
    const auto words = std::bit_cast<std::array<std::uint32_t, sizeof(Any) / 4>>(record);
    batch.insert(batch.end(), words.begin(), words.end());
    if (batch.size() >= kBatchWords) push<Any>(lane, peer, take);
  }
  /// Ends the superstep of this lane: sends what is left, and calls take(record) for all records of the
  /// superstep until those of all peers were taken.
  template <class Any = Record, class Take>
  void finish(int lane, const Take& take) {
    const std::uint64_t superstep = supersteps_[static_cast<std::size_t>(lane)];
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) push<Any>(lane, peer, take);
    while (!rings_->end(lane, superstep)) make_progress<Any>(lane, take);
    for (int turns = 0; !rings_->finished(lane, superstep); ++turns) {
      if (make_progress<Any>(lane, take) > 0) turns = 0;
      if (turns > (oversubscribed_ ? 10 : 20'000)) wait();
    }
    ++supersteps_[static_cast<std::size_t>(lane)];
  }
  /// What all processes pass, in the order of their ranks: each gives as many numbers. All get the same.
  std::vector<std::uint64_t> share(std::span<const std::uint64_t> mine);
  /// The least of what all processes pass.
  std::uint64_t agree(std::uint64_t mine);

  /// By this process since the start. Not while workers send.
  Sent sent() const noexcept;

 private:
  template <class Any>
  std::vector<std::uint64_t> share_as(std::span<const std::uint64_t> mine);

  static constexpr std::size_t kBatchWords = 510;  ///< 255 or 170 records

  std::size_t index(int lane, int peer) const noexcept {
    return static_cast<std::size_t>(lane) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(peer);
  }
  template <class Any, class Take>
  void push(int lane, int peer, const Take& take) {
    auto& batch = batches_[index(lane, peer)];
    for (auto left = std::as_bytes(std::span(batch)); !left.empty();) {
      const auto room = rings_->reserve(lane, peer);
      const auto some = left.first(std::min(left.size(), room.size() / sizeof(Any) * sizeof(Any)));
      if (some.empty()) {
        rings_->flush(lane);
        make_progress<Any>(lane, take);
        continue;
      }
      std::memcpy(room.data(), some.data(), some.size());
      rings_->publish(lane, peer, some.size() / sizeof(Any));
      left = left.subspan(some.size());
    }
    record_bytes_sent_[static_cast<std::size_t>(lane)] += batch.size() * sizeof batch[0];
    batch.clear();
  }
  /// Polls and takes. Returns the number of records.
  template <class Any, class Take>
  std::size_t make_progress(int lane, const Take& take) {
    if (!link_.poll() || health_.failed()) throw Error(health_.message());
    return rings_->drain(lane, supersteps_[static_cast<std::size_t>(lane)],
                         [&](int peer, std::span<const std::byte> bytes) {
                           for (std::size_t at = 0; at < bytes.size(); at += sizeof(Any)) {
                             Any record;
                             std::memcpy(&record, &bytes[at], sizeof record);
                             if constexpr (std::is_invocable_v<Take, int, Any>)
                               take(peer, record);
                             else
                               take(record);
                           }
                         });
  }
  void wait() { link_.wait(std::chrono::microseconds(1000)); }

  transport::Transport& link_;
  transport::Health& health_;
  std::size_t record_bytes_;
  int rank_, size_;
  bool oversubscribed_;
  std::vector<std::uint64_t> writes_;
  std::unique_ptr<exchange::Rings> rings_;
  std::vector<std::uint64_t> record_bytes_sent_;     ///< [lane]
  std::vector<std::uint64_t> supersteps_;            ///< [lane]: the one that goes on, from 1
  std::vector<std::vector<std::uint32_t>> batches_;  ///< [lane * size + peer]: records
};

}  // namespace edgewire::frontier
