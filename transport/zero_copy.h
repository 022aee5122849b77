#pragma once

#include <array>
#include <cstdint>

namespace edgewire::transport {

/// Which frames of a socket may be reused while the system still sends some of them from our memory
/// (MSG_ZEROCOPY, see the kernel's msg_zerocopy.rst). It numbers such calls from 0 and tells ranges of
/// numbers that are done, in any order.
class ZeroCopyCalls {
 public:
  explicit ZeroCopyCalls(std::uint32_t first = 0) noexcept : oldest_(first), next_(first) {}

  /// What a socket has taken, ever.
  struct Position {
    std::uint64_t frames = 0;  ///< whole ones
    std::uint64_t writes = 0;  ///< that these frames end
  };

  bool full() const noexcept { return next_ - oldest_ == kCalls; }
  /// One more call, which has taken something; `before` it this much was taken.
  void add(Position before) noexcept { calls_[next_++ % kCalls] = {before, false}; }
  /// Ignores numbers that are not under way.
  void done(std::uint32_t first, std::uint32_t last) noexcept {
    for (std::uint32_t i = 0; i < next_ - oldest_; ++i)
      if (oldest_ + i - first <= last - first) calls_[(oldest_ + i) % kCalls].done = true;
    while (oldest_ != next_ && calls_[oldest_ % kCalls].done) ++oldest_;
  }
  /// What may be reused, of all that was taken `now`.
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
  std::uint32_t oldest_;  ///< not done; numbers wrap around, as the system's do
  std::uint32_t next_;
};

}  // namespace edgewire::transport
