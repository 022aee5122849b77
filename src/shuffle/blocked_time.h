#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

#include "base/seconds.h"
#include "topology/phase.h"

namespace edgewire::shuffle {

/// Tells an observer for how long a worker had no core while it read or wrote a file: it waited for a disk.
/// Without an observer (null) no clock is read. The worker's thread uses it.
class BlockedTime {
 public:
  /// Begins now.
  BlockedTime(topology::Observer* observer, int worker) noexcept
      : observer_(observer), worker_(worker), start_ns_(observer != nullptr ? without_core_ns() : 0) {}
  /// Ends now. It is called once.
  void tell() const noexcept {
    if (observer_ == nullptr) return;
    const auto blocked_ns = static_cast<std::int64_t>(without_core_ns() - start_ns_);
    observer_->aside(worker_, topology::Phase::wait, -1,
                     static_cast<std::uint64_t>(std::max<std::int64_t>(0, blocked_ns)));
  }

 private:
  static std::uint64_t without_core_ns() noexcept { return now_ns() - clock_ns(CLOCK_THREAD_CPUTIME_ID); }

  topology::Observer* observer_;
  int worker_;
  std::uint64_t start_ns_;
};

}  // namespace edgewire::shuffle
