// The first failure of a job, as one process knows it; and the peers that it has lost without a failure.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace edgewire::transport {

/// The state of the job: whether it has failed. The first one that notices a failure (a backend, the peer
/// monitor, the engine) sets it. All loops that wait check `failed()` and give up. It is thread safe.
class Health {
 public:
  /// Fails the job. `peer`: the rank at fault, -1: this process. `message` names the peer and the cause.
  void fail(int peer, const std::string& message) {
    const std::scoped_lock lock(mutex_);
    if (failed_.load(std::memory_order_relaxed)) return;
    peer_ = peer;
    message_ = message;
    failed_.store(true, std::memory_order_release);  // pairs with failed()
  }
  bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  int peer() const {
    const std::scoped_lock lock(mutex_);
    return peer_;
  }
  std::string message() const {
    const std::scoped_lock lock(mutex_);
    return message_;
  }

  /// Lets the job of `size` processes go on, from now on, without those that are lost, except rank 0.
  void tolerate_losses(int size) {
    const std::scoped_lock lock(mutex_);
    why_lost_.resize(size);
  }
  /// Notes that the peer has gone: the job fails, unless it tolerates that.
  void lose(int peer, const std::string& message) {
    {
      const std::scoped_lock lock(mutex_);
      if (peer > 0 && static_cast<std::size_t>(peer) < why_lost_.size()) {
        auto& why = why_lost_[peer];
        if (!why.empty()) return;
        why = message.empty() ? "unknown" : message;
        losses_.fetch_add(1, std::memory_order_release);  // pairs with losses()
        return;
      }
    }
    fail(peer, message);
  }
  /// Returns the number of peers that were lost without a failure of the job.
  int losses() const noexcept { return losses_.load(std::memory_order_acquire); }
  bool lost(int peer) const { return losses() > 0 && !why_lost(peer).empty(); }
  /// Returns a text that names the peer and the cause. The result is empty if it was not lost.
  std::string why_lost(int peer) const {
    const std::scoped_lock lock(mutex_);
    return static_cast<std::size_t>(peer) < why_lost_.size() ? why_lost_[peer] : std::string();
  }

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> failed_{false};
  int peer_ = -1;
  std::string message_;
  std::atomic<int> losses_{0};
  std::vector<std::string> why_lost_;  ///< reasons by rank; empty: no loss is tolerated
};

}  // namespace edgewire::transport
