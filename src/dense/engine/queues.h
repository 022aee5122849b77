// The order of work in an iteration: what a worker computes and what a lane sends next.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/rooms.h"
#include "dense/exchange/exchange.h"
#include "edgewire/detail/tile_order.h"

namespace edgewire::engine {

/// Gives the groups of local columns of an iteration to free workers: first the groups whose memory is near.
/// Where their order has to be known before, each worker gets its own groups only.
class GroupQueue {
 public:
  /// Makes the queue. `nodes[g]`: the node (of Placement) that holds group g, or the worker that alone may
  /// take it.
  explicit GroupQueue(std::span<const int> nodes, bool own_only = false) : own_only_(own_only) {
    for (std::size_t g = 0; g < nodes.size(); ++g) {
      const auto node = static_cast<std::size_t>(nodes[g]);
      while (queues_.size() <= node) queues_.emplace_back();
      queues_[node].groups.push_back(g);
    }
  }
  /// Returns a group of `node` (or worker), in ascending order, or of the next node that still has one;
  /// nothing when all are taken. Any worker may call it at any time.
  std::optional<std::size_t> take(int node) noexcept {
    if (own_only_ && static_cast<std::size_t>(node) >= queues_.size()) return std::nullopt;
    const std::size_t turns = own_only_ ? 1 : queues_.size();
    for (std::size_t turn = 0; turn < turns; ++turn) {
      Queue& queue = queues_[(static_cast<std::size_t>(node) + turn) % queues_.size()];
      const std::size_t at = queue.taken.fetch_add(1, std::memory_order_relaxed);
      if (at < queue.groups.size()) return queue.groups[at];
    }
    return std::nullopt;
  }
  /// Makes all groups available again. One worker calls it, while the others wait at a barrier; the barrier
  /// orders it with their calls.
  void refill() noexcept {
    for (auto& queue : queues_) queue.taken.store(0, std::memory_order_relaxed);
  }

 private:
  struct alignas(64) Queue {
    Queue() = default;
    Queue(Queue&& other) noexcept : groups(std::move(other.groups)) {}
    std::atomic<std::size_t> taken{0};
    std::vector<std::size_t> groups;
  };
  std::vector<Queue> queues_;
  bool own_only_;
};

/// Chunks that a lane sends one after the other: the sums of a group of columns, or a chunk of messages.
struct LaneRun {
  std::span<const exchange::OutgoingChunk> chunks{};
  std::vector<int> peers{};    ///< peers that get them
  std::vector<int> mirrors{};  ///< peers whose mirrors the sums need
  bool sums = false;
};

/// The queue of one lane, whose worker alone uses it: what it sends in an iteration behind its mirrors, and
/// in which order. Sums go as soon as the mirrors that they need are there. Chunks that go to the same peer
/// keep their order, since their signals are counts.
class LaneQueue {
 public:
  /// Makes the queue. `chunks`: the lane's chunks, which outlive it. `streams`: all outgoing ones, by peer.
  /// mirrors[column]: the peers whose mirrors it needs.
  LaneQueue(std::span<const exchange::OutgoingChunk> chunks,
            std::span<const exchange::OutgoingStream> streams, const tiles::TileOrder& order,
            std::span<const std::vector<int>> mirrors)
      : blocked_(static_cast<std::size_t>(streams.back().peer) + 1) {
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      const exchange::OutgoingStream& stream = streams[chunks[i].stream];
      if (stream.mirrors) continue;  // mirrors go first
      const bool sums = stream.indexes.empty();
      const std::size_t column = chunks[i].column;
      const bool goes_on = sums && !runs_.empty() && runs_.back().sums &&
                           order.group_of(runs_.back().chunks.back().column) == order.group_of(column);
      if (!goes_on) runs_.push_back({chunks.subspan(i, 0), {}, {}, sums});
      LaneRun& run = runs_.back();
      run.chunks = {run.chunks.data(), &chunks[i] + 1};
      run.peers.push_back(stream.peer);
      if (sums) run.mirrors.insert(run.mirrors.end(), mirrors[column].begin(), mirrors[column].end());
    }
    for (LaneRun& run : runs_) {
      for (auto* peers : {&run.peers, &run.mirrors}) {
        std::ranges::sort(*peers);
        peers->erase(std::unique(peers->begin(), peers->end()), peers->end());
      }
    }
    taken_.resize(runs_.size());
    refill();
  }

  /// Makes all runs available again.
  void refill() noexcept {
    std::fill(taken_.begin(), taken_.end(), false);
    first_ = 0;
  }
  bool empty() const noexcept { return first_ == runs_.size(); }
  /// Returns the first run that may go, if ready(run): no run before it that is still here goes to one of its
  /// peers. It takes this run. Returns null if there is none.
  template <class Ready>
  const LaneRun* take(const Ready& ready) noexcept {
    std::fill(blocked_.begin(), blocked_.end(), false);
    for (std::size_t r = first_; r < runs_.size(); ++r) {
      const LaneRun& run = runs_[r];
      if (taken_[r]) continue;
      if (std::ranges::none_of(run.peers, [&](int peer) { return is_blocked(peer); }) && ready(run)) {
        taken_[r] = true;
        while (first_ < runs_.size() && taken_[first_]) ++first_;
        return &run;
      }
      for (const int peer : run.peers) blocked_[peer] = true;
    }
    return nullptr;
  }
  /// Returns the first run that is still here.
  const LaneRun& first() const noexcept { return runs_[first_]; }

 private:
  bool is_blocked(int peer) const noexcept { return blocked_[peer]; }
  std::vector<LaneRun> runs_;
  std::vector<bool> taken_;    ///< whether a run is taken, [run]
  std::size_t first_ = 0;      ///< first run that may be left: all before it are taken
  std::vector<bool> blocked_;  ///< whether an earlier run goes to a peer, [peer]
};

}  // namespace edgewire::engine
