// Records of one size to other processes, superstep by superstep, through rings, with batches at the sender.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "channel/ring.h"
#include "launch/bootstrap.h"
#include "process/local_process.h"
#include "topology/phase.h"
#include "transport/transport.h"

namespace edgewire::channel {

/// Worker w sends on lane w; functions with a lane belong to that worker. `take` is called as take(peer,
/// bytes) with whole records; those of a peer come in the order in which it sent them on the lane.
class RecordStream {
 public:
  /// Exposes the region and connects the link. Collective; throws Error. `bootstrap` and `process` outlive
  /// this. `record_bytes`: see RingSettings. An observer of the process's pool is told what workers do here.
  RecordStream(launch::Bootstrap& bootstrap, process::LocalProcess& process, std::size_t record_bytes)
      : RecordStream(bootstrap, process, process.link(), record_bytes) {}
  /// Makes a stream on another link, which outlives this; see LocalProcess::ring_link().
  RecordStream(launch::Bootstrap& bootstrap, process::LocalProcess& process, transport::Transport& link,
               std::size_t record_bytes);

  /// Sends a record to `peer`. While there is no room, take() is called for what has arrived. Throws Error
  /// when the job has failed. `bytes` is record_bytes of the constructor; a constant is copied faster. It may
  /// also be the size of several records, which lie side by side.
  template <class Take>
  void send(int lane, int peer, const void* record, std::size_t bytes, const Take& take) {
    auto& batch = batches_[index(lane, peer)];
    const auto* const first = static_cast<const std::byte*>(record);
    batch.insert(batch.end(), first, first + bytes);
    if (batch.size() >= kBatchBytes) push(lane, peer, take);
  }
  /// Calls take() for what has arrived in this superstep, and returns the number of records. A lane that
  /// waits for something else calls it again and again, since a peer may wait for room.
  template <class Take>
  std::size_t make_progress(int lane, const Take& take) {
    if (!link_.poll() || health_.failed()) throw Error(health_.message());
    return rings_->drain(lane, supersteps_[lane], take);
  }
  /// Ends the superstep of this lane: sends what is left, and calls take() for all records of the superstep
  /// until those of all peers were taken. All peers get `note`, and note() has theirs afterwards.
  template <class Take>
  void finish(int lane, const Take& take, const RingNote& note = {}) {
    const std::uint64_t superstep = supersteps_[lane];
    Ending ending(pool_.observer(), lane);
    const auto take_told = [&](int peer, std::span<const std::byte> bytes) {
      ending.enter(Phase::apply, -1);
      take(peer, bytes);
    };
    for (int peer = 0; peer < size_; ++peer)
      if (peer != rank_) push(lane, peer, take);
    while (!rings_->end(lane, superstep, note)) make_progress(lane, take);
    int awaited = rings_->awaited(lane, superstep);
    for (int turns = 0; awaited >= 0; ++turns) {
      if (make_progress(lane, take_told) > 0) turns = 0;
      awaited = rings_->awaited(lane, superstep);
      if (awaited < 0) break;  // every end has arrived, so there is nothing to wait for
      if (turns > 0) ending.enter(Phase::wait, awaited);
      if (turns > (oversubscribed_ ? 10 : 20'000)) wait();
    }
    ++supersteps_[lane];
  }

  /// Returns the note that the peer gave to finish() of the last superstep of this lane.
  const RingNote& note(int lane, int peer) const noexcept { return rings_->note(lane, peer); }

  /// Returns how many bytes of memory the rings of a process take.
  static std::size_t memory_bytes(int lanes, int size, std::size_t record_bytes);

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  std::size_t record_bytes() const noexcept { return record_bytes_; }
  /// Returns how many bytes of records were sent on this lane, and nothing else. The caller may set it back.
  std::uint64_t& bytes_sent(int lane) noexcept { return bytes_sent_[lane]; }
  /// Returns the same for all lanes. Workers must not send meanwhile.
  std::uint64_t bytes_sent() const noexcept;
  transport::Counters counters() const noexcept { return link_.counters(); }

 private:
  using Phase = topology::Phase;
  static constexpr std::size_t kBatchBytes = 2040;  ///< a whole number of 8-byte or 12-byte records

  std::size_t index(int lane, int peer) const noexcept {
    return static_cast<std::size_t>(lane) * size_ + peer;
  }
  /// Tells an observer what a worker does in finish(), when that changes; the worker then computes again.
  class Ending {
   public:
    Ending(topology::Observer* observer, int lane) noexcept : observer_(observer), lane_(lane) {
      if (observer_ != nullptr) observer_->enter(lane_, Phase::send, 0, -1);
    }
    ~Ending() { enter(Phase::compute, -1); }
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    void enter(Phase phase, int peer) noexcept {
      if (observer_ == nullptr) return;
      if (phase != phase_)
        observer_->enter(lane_, phase, 0, peer);
      else if (peer != peer_)
        observer_->waits_for(lane_, peer);
      phase_ = phase;
      peer_ = peer;
    }

   private:
    topology::Observer* observer_;
    int lane_, peer_ = -1;
    Phase phase_ = Phase::send;
  };

  /// Sends whole batches. It is not inlined, so that its callers stay small enough to be inlined.
  template <class Take>
  [[gnu::noinline]] void push(int lane, int peer, const Take& take) {
    topology::Asides asides(pool_.observer(), lane, peer);
    auto& batch = batches_[index(lane, peer)];
    for (auto left = std::span<const std::byte>(batch); !left.empty();) {
      const auto room = rings_->reserve(lane, peer);
      const auto some = left.first(std::min(left.size(), room.size() / record_bytes_ * record_bytes_));
      if (some.empty()) {
        rings_->flush(lane);
        asides.was(Phase::send);
        asides.was(make_progress(lane, take) > 0 ? Phase::apply : Phase::wait);
        continue;
      }
      std::memcpy(room.data(), some.data(), some.size());
      rings_->publish(lane, peer, some.size() / record_bytes_);
      left = left.subspan(some.size());
    }
    bytes_sent_[lane] += batch.size();
    batch.clear();
    asides.was(Phase::send);
  }
  void wait() { link_.wait(std::chrono::microseconds(1000)); }

  topology::WorkerPool& pool_;
  transport::Transport& link_;
  transport::Health& health_;
  std::size_t record_bytes_;
  int rank_, size_;
  bool oversubscribed_;
  std::vector<std::uint64_t> writes_;
  std::unique_ptr<Rings> rings_;
  std::vector<std::uint64_t> bytes_sent_;        ///< bytes sent by lane
  std::vector<std::uint64_t> supersteps_;        ///< superstep under way by lane, from 1
  std::vector<std::vector<std::byte>> batches_;  ///< records, [lane * size + peer]
};

}  // namespace edgewire::channel
