// The first failure of a job, as one process knows it.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

namespace edgewire::transport {

/// The first one that notices a failure (a backend, the peer monitor, the engine) sets it. Later calls are
/// ignored. All loops that wait check `failed()` and give up. Thread safe.
class Health {
 public:
  /// `peer` is the rank at fault, or -1 when it is this process. `message` names the peer and the cause.
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

 private:
  mutable std::mutex mutex_;
  std::atomic<bool> failed_{false};
  int peer_ = -1;
  std::string message_;
};

}  // namespace edgewire::transport
