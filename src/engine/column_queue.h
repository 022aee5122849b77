// Gives the local tile columns of an iteration to free workers: first the columns whose memory is near.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace edgewire::engine {

class ColumnQueue {
 public:
  /// `nodes[c]`: the node (of Placement) that holds column c.
  explicit ColumnQueue(std::span<const int> nodes) {
    for (std::size_t c = 0; c < nodes.size(); ++c) {
      const auto node = static_cast<std::size_t>(nodes[c]);
      while (queues_.size() <= node) queues_.emplace_back();
      queues_[node].columns.push_back(c);
    }
  }
  /// A column of `node`, or of the next node that still has one; nothing when all are taken. Any worker may
  /// call it at any time.
  std::optional<std::size_t> take(int node) noexcept {
    for (std::size_t turn = 0; turn < queues_.size(); ++turn) {
      Queue& queue = queues_[(static_cast<std::size_t>(node) + turn) % queues_.size()];
      const std::size_t at = queue.taken.fetch_add(1, std::memory_order_relaxed);
      if (at < queue.columns.size()) return queue.columns[at];
    }
    return std::nullopt;
  }
  /// Makes all columns available again. One worker calls it, while the others wait at a barrier; the barrier
  /// orders it with their calls.
  void refill() noexcept {
    for (auto& queue : queues_) queue.taken.store(0, std::memory_order_relaxed);
  }

 private:
  struct alignas(64) Queue {
    Queue() = default;
    Queue(Queue&& other) noexcept : columns(std::move(other.columns)) {}
    std::atomic<std::size_t> taken{0};
    std::vector<std::size_t> columns;
  };
  std::vector<Queue> queues_;
};

}  // namespace edgewire::engine
