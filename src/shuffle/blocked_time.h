#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>

#include "topology/phase.h"

namespace edgewire::shuffle {

/// Tells an observer for how long a worker had no core while it read or wrote a file: it waited for a disk.
/// Without an observer (null) no clock is read. The worker's thread uses it.
class BlockedTime {
 public:
  /// Begins now.
  BlockedTime(topology::Observer* observer, int worker) noexcept : observer_(observer), worker_(worker) {
    if (observer_ == nullptr) return;
    start_ = std::chrono::steady_clock::now();
    cpu_start_ = cpu_time();
  }
  /// Ends now. It is called once.
  void tell() const noexcept {
    if (observer_ == nullptr) return;
    const auto blocked = (std::chrono::steady_clock::now() - start_) - (cpu_time() - cpu_start_);
    observer_->aside(worker_, topology::Phase::wait, -1,
                     static_cast<std::uint64_t>(std::max<std::int64_t>(0, blocked.count())));
  }

 private:
  static std::chrono::nanoseconds cpu_time() noexcept {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  topology::Observer* observer_;
  int worker_;
  std::chrono::steady_clock::time_point start_{};
  std::chrono::nanoseconds cpu_start_{};
};

}  // namespace edgewire::shuffle
