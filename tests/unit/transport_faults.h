#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "transport/transport.h"

namespace edgewire::transport {

class Faulty final : public Transport {
 public:
  Faulty(std::unique_ptr<Transport> inner, const Settings& settings, std::uint64_t seed)
      : inner_(std::move(inner)), lanes_(static_cast<std::size_t>(settings.lanes)) {
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      lanes_[i].chance.seed(seed * 1'000'003 + static_cast<std::uint64_t>(settings.rank) * 1009 + i);
  }

  std::string_view name() const noexcept override { return inner_->name(); }
  std::span<std::byte> expose(std::size_t bytes, std::span<const Part> parts) override {
    return inner_->expose(bytes, parts);
  }
  std::string blob() const override { return inner_->blob(); }
  void connect(std::span<const std::string> blobs) override { inner_->connect(blobs); }
  std::span<std::byte> send_memory(std::size_t bytes) override { return inner_->send_memory(bytes); }
  std::byte* remote_ptr(int peer, std::size_t offset) const noexcept override {
    return inner_->remote_ptr(peer, offset);
  }
  void stored(int lane, int peer, std::size_t bytes) noexcept override { inner_->stored(lane, peer, bytes); }
  std::uint64_t frame_bytes_to(int peer) const noexcept override { return inner_->frame_bytes_to(peer); }

  bool write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept override {
    Lane& at = lanes_[static_cast<std::size_t>(lane)];
    const std::scoped_lock lock(at.mutex);
    // Signals that are held back were given before this write; sending them after it is allowed.
    return !at.happens(20) && inner_->write(lane, peer, offset, source);
  }

  bool can_read(int peer) const noexcept override { return inner_->can_read(peer); }
  bool read_remote(int lane, int peer, std::size_t offset, std::span<std::byte> sink) noexcept override {
    Lane& at = lanes_[static_cast<std::size_t>(lane)];
    const std::scoped_lock lock(at.mutex);
    return !at.happens(20) && inner_->read_remote(lane, peer, offset, sink);
  }

  bool signal(int lane, int peer, int kind, std::uint64_t count) noexcept override {
    Lane& at = lanes_[static_cast<std::size_t>(lane)];
    const std::scoped_lock lock(at.mutex);
    if (at.happens(20)) return false;
    if (at.held.size() < 64 && (at.happens(30) || !at.held.empty())) {
      at.held.push_back({peer, kind, count});
      return true;
    }
    return at.held.empty() && inner_->signal(lane, peer, kind, count);
  }

  void ring_doorbell(int lane) noexcept override {
    Lane& at = lanes_[static_cast<std::size_t>(lane)];
    const std::scoped_lock lock(at.mutex);
    at.rung = true;
    if (!at.happens(30)) release(lane, at);
  }

  bool poll() noexcept override {
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      Lane& at = lanes_[i];
      const std::unique_lock lock(at.mutex, std::try_to_lock);
      if (lock.owns_lock() && at.rung && !at.happens(30)) release(static_cast<int>(i), at);
    }
    if (polls_.fetch_add(1, std::memory_order_relaxed) % 7 == 3) std::this_thread::yield();
    return inner_->poll();
  }

  bool wait(std::chrono::microseconds timeout) noexcept override {
    if (polls_.fetch_add(1, std::memory_order_relaxed) % 5 == 2) return poll();
    if (!poll()) return false;
    // Held signals need another poll before long.
    return inner_->wait(std::min(timeout, std::chrono::microseconds(500)));
  }

  std::uint64_t completed(int lane, int peer) const noexcept override {
    return inner_->completed(lane, peer);
  }
  bool takes_more(int lane, int peer) const noexcept override { return inner_->takes_more(lane, peer); }
  std::uint64_t signalled(int peer, int kind) const noexcept override {
    return inner_->signalled(peer, kind);
  }
  Counters counters() const noexcept override { return inner_->counters(); }
  std::uint64_t wire_bytes_of(std::uint64_t frame_bytes) const noexcept override {
    return inner_->wire_bytes_of(frame_bytes);
  }

 private:
  struct Signal {
    int peer;
    int kind;
    std::uint64_t count;
  };
  struct Lane {
    std::mutex mutex;  ///< mutex that makes the polling threads and the lane's own one take turns
    std::minstd_rand chance;
    std::deque<Signal> held;
    bool rung = false;

    bool happens(unsigned percent) noexcept { return chance() % 100 < percent; }
  };

  void release(int lane, Lane& at) noexcept {
    while (!at.held.empty()) {
      const Signal& first = at.held.front();
      if (!inner_->signal(lane, first.peer, first.kind, first.count)) break;
      at.held.pop_front();
    }
    inner_->ring_doorbell(lane);
    at.rung = !at.held.empty();
  }

  std::unique_ptr<Transport> inner_;
  std::vector<Lane> lanes_;
  std::atomic<std::uint64_t> polls_{0};  // a count alone; pairs with nothing
};

/// Wraps a transport, for tests, so that rare but allowed events occur often. Queues are full, doorbells and
/// signals are late, polls bring nothing, waits end early. What happens to a call depends only on `seed`, the
/// lane and the number of the lane's calls so far, so a failure can be replayed.
inline std::unique_ptr<Transport> with_faults(std::unique_ptr<Transport> inner, const Settings& settings,
                                              std::uint64_t seed) {
  return std::make_unique<Faulty>(std::move(inner), settings, seed);
}

}  // namespace edgewire::transport
