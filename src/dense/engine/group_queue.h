// Gives the groups of local columns of an iteration to free workers: first the groups whose memory is near.
// Where their order has to be known before, each worker gets its own groups only.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace edgewire::engine {

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

}  // namespace edgewire::engine
