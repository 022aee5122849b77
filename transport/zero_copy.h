#pragma once

#include <array>
#include <cstdint>

namespace edgewire::transport {

/// Tracks zero-copy sends of one socket (MSG_ZEROCOPY, see msg_zerocopy.rst of the kernel), to say which
/// frames may be reused: after such a call the kernel still reads our memory. The kernel numbers the calls
/// from 0, and later reports ranges of numbers that are done, in any order.
class ZeroCopyCalls {
 public:
  explicit ZeroCopyCalls(std::uint32_t first = 0) noexcept : oldest_(first), next_(first) {}

  /// The amount that a socket has accepted since its start.
  struct Position {
    std::uint64_t frames = 0;  ///< number of complete frames
    std::uint64_t writes = 0;  ///< number of writes whose last frame is among these
  };

  /// Returns whether too many calls are not done: then send without zero copy.
  bool full() const noexcept { return next_ - oldest_ == kCalls; }
  /// Adds a call that has sent something. `before`: the position before this call.
  void add(Position before) noexcept { calls_[next_++ % kCalls] = {before, false}; }
  /// Notes that the kernel says that calls first..last are done. Numbers of other calls are ignored.
  void done(std::uint32_t first, std::uint32_t last) noexcept {
    for (std::uint32_t i = 0; i < next_ - oldest_; ++i)
      if (oldest_ + i - first <= last - first) calls_[(oldest_ + i) % kCalls].done = true;
    while (oldest_ != next_ && calls_[oldest_ % kCalls].done) ++oldest_;
  }
  /// Returns the position up to which memory may be reused. `now`: the current position.
  Position reusable(Position now) const noexcept {
    return oldest_ == next_ ? now : calls_[oldest_ % kCalls].before;
  }

 private:
  static constexpr std::uint32_t kCalls = 64;
  struct Call {
    Position before;
    bool done = false;
  };

  std::array<Call, kCalls> calls_;
  /// Number of the oldest call that is not done; numbers wrap around, like the kernel's.
  std::uint32_t oldest_;
  std::uint32_t next_;  ///< number of the next call
};

}  // namespace edgewire::transport
