// Makes lossy frames reliable: selective repeat with a bounded window. This code needs no driver, port or
// clock. A frame counts as lost when enough frames that were sent later have arrived (as in RFC 8985, RACK;
// how many are enough is learnt from the link). At the end of a message a timer (RFC 6298) sends a single
// frame again. Times are nanoseconds of any steady clock.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "transport/dpdk/frame.h"

namespace edgewire::transport::dpdk {

using Nanoseconds = std::int64_t;

/// The content of a frame; it is kept until the frame is acknowledged. `source` stays as it is until then.
struct Content {
  const std::byte* source = nullptr;
  std::uint64_t place = 0;
  std::uint16_t bytes = 0;
  std::uint16_t kind = 0;
  std::uint16_t lane = 0;
  FrameType type = FrameType::Data;
  bool ends_write = false;
};

/// The sending end of one direction. One thread at a time uses it.
class Sender {
 public:
  /// A frame that was sent at least once.
  struct Frame {
    Content content;
    std::uint32_t sequence = 0;
    std::uint32_t times = 0;         ///< number of times that it was sent
    std::uint64_t order = 0;         ///< number of its last sending among all sendings
    std::uint64_t order_before = 0;  ///< number of the sending before that
    Nanoseconds sent_at = 0;
    bool arrived = false;
    bool lost = false;  ///< whether it waits to be sent again
  };

  /// Begins a stream. `first`: the first sequence number, which the receiver knows.
  explicit Sender(std::uint32_t first = 0);

  /// Returns whether a new frame may be sent now.
  bool has_room() const noexcept { return next_ - oldest_ < kWindow && under_way_ < window_ && !has_lost(); }
  /// Returns the frame for the caller to send. Requires has_room().
  const Frame& send(const Content& content, Nanoseconds now) noexcept;
  /// Returns whether frames wait to be sent again.
  bool has_lost() const noexcept { return lost_count_ > 0; }
  /// Returns the lost frame for the caller to send again; null when it has arrived after all.
  const Frame* send_lost(Nanoseconds now) noexcept;

  /// Takes an acknowledgement: all frames before `ack` have arrived, and frame ack + 1 + i where bit i of
  /// `bits` is set; `newest` is the order (modulo 2^24) of the newest sending that has arrived, or kUnknown.
  /// Calls done(content) in order for frames that are done. Returns false when it makes no sense or is older.
  template <class Done>
  bool acknowledge(std::uint32_t ack, std::uint32_t newest, std::span<const std::byte> bits, Nanoseconds now,
                   const Done& done) noexcept {
    const std::uint32_t before = oldest_;
    if (!take(ack, newest, bits, now)) return false;
    for (std::uint32_t sequence = before; sequence != oldest_; ++sequence) done(frame(sequence).content);
    return true;
  }
  static constexpr std::uint32_t kUnknown = ~0U;

  /// Gives up on what was sent long ago and not acknowledged.
  void look_at_timer(Nanoseconds now) noexcept;

  bool idle() const noexcept { return next_ == oldest_; }
  std::uint32_t window() const noexcept { return window_; }
  std::uint64_t overtaken() const noexcept { return overtaken_; }
  Nanoseconds timeout() const noexcept { return std::min(timeout_ << timeouts_, kMostTimeout); }

  static constexpr Nanoseconds kFirstTimeout = 10'000'000, kLeastTimeout = 2'000'000,
                               kMostTimeout = 100'000'000;

 private:
  static constexpr std::uint64_t kOvertaken = 8, kMostOvertaken = kWindow / 2;
  static constexpr std::uint32_t kFirstWindow = 64, kLeastWindow = 32;
  /// The number of sendings to remember: more than can be under way or overtaken.
  static constexpr std::size_t kSendings = 4 * kWindow;
  static_assert((kWindow & (kWindow - 1)) == 0, "sequence numbers wrap around");

  Frame& frame(std::uint32_t sequence) noexcept { return frames_[sequence % kWindow]; }
  bool take(std::uint32_t ack, std::uint32_t newest, std::span<const std::byte> bits,
            Nanoseconds now) noexcept;
  void arrive(Frame& frame, bool newest_is_known) noexcept;
  void note_sending(Frame& frame, Nanoseconds now) noexcept;
  void lose(Frame& frame) noexcept;
  void find_losses() noexcept;
  void measure(Nanoseconds round_trip) noexcept;
  void end_round() noexcept;
  Frame* first_sending() noexcept;

  struct Sending {
    std::uint32_t sequence = 0;
    std::uint64_t order = 0;
  };

  std::unique_ptr<Frame[]> frames_;  ///< frames by sequence number
  /// Sendings in order; one that has arrived stays until it is the first.
  std::unique_ptr<Sending[]> sendings_;
  std::uint64_t first_sending_ = 0, next_sending_ = 0;
  std::unique_ptr<std::uint32_t[]> lost_;  ///< ring of sequence numbers to send again
  std::uint32_t first_lost_ = 0, lost_count_ = 0;
  std::uint32_t oldest_ = 0;  ///< first sequence number that is not done
  std::uint32_t next_ = 0;
  std::uint32_t under_way_ = 0;  ///< number of frames that were sent and have neither arrived nor lost
  std::uint64_t orders_ = 0;
  std::uint32_t arrivals_ = 0;  ///< number of arrivals so far, modulo 2^32
  /// Frames that may overtake one before it counts as lost: more where several ways or queues mix them.
  std::uint64_t overtaken_ = kOvertaken;
  std::uint64_t newest_arrived_ = 0;  ///< largest order that the peer has reported as arrived
  /// Time when the newest frame of an acknowledgement was sent; -1: cannot be told.
  Nanoseconds newest_sent_at_ = -1;
  // Window and timer.
  std::uint32_t window_ = kFirstWindow;
  bool opening_ = true;  ///< true while the window doubles each round, until frames are lost
  std::uint32_t round_end_ = 0, round_sent_ = 0, round_lost_ = 0;
  Nanoseconds smoothed_ = 0, variation_ = 0;
  Nanoseconds timeout_ = kFirstTimeout;
  int timeouts_ = 0;             ///< number of timeouts in a row
  Nanoseconds timer_start_ = 0;  ///< time of the last time that something arrived, or the timer ended
};

/// The receiving end: gives frames in order, each once, and holds early ones. One thread at a time uses it.
class Receiver {
 public:
  enum class Verdict { InOrder, Held, Duplicate, Outside };

  explicit Receiver(std::uint32_t first = 0)
      : held_(std::make_unique<Incoming[]>(kWindow)), expected_(first) {}

  /// Returns what to do with a frame. InOrder: the caller takes the frame, and then all that next() gives.
  /// Held: `frame` is kept for later. Else the frame is not needed (any more, or yet).
  Verdict arrive(std::uint32_t sequence, const Incoming& frame) noexcept {
    const std::uint32_t ahead = sequence - expected_;
    if (ahead >= kWindow) {
      urgent_ = true;  // the peer has not heard of what arrived
      return ahead > ~ahead ? Verdict::Duplicate : Verdict::Outside;
    }
    Incoming& place = held_[sequence % kWindow];
    if (place.data != nullptr) {
      urgent_ = true;
      return Verdict::Duplicate;
    }
    ++unacknowledged_;
    if (ahead == 0) {
      ++expected_;
      if (held_count_ > 0) urgent_ = true;
      return Verdict::InOrder;
    }
    place = frame;
    ++held_count_;
    return Verdict::Held;
  }
  /// Returns the next frame in order that was held; none when it has not come. The caller releases it.
  Incoming next() noexcept {
    Incoming& place = held_[expected_ % kWindow];
    if (place.data == nullptr) return {};
    --held_count_;
    ++expected_;
    return std::exchange(place, {});
  }
  /// Returns any frame that is still held, to release it at the end; none when there is none left.
  Incoming drop() noexcept {
    for (std::uint32_t i = 0; held_count_ > 0 && i < kWindow; ++i) {
      if (held_[i].data == nullptr) continue;
      --held_count_;
      return std::exchange(held_[i], {});
    }
    return {};
  }

  std::uint32_t expected() const noexcept { return expected_; }
  std::uint32_t held() const noexcept { return held_count_; }
  /// Returns the number of frames since the last acknowledgement.
  std::uint32_t unacknowledged() const noexcept { return unacknowledged_; }
  /// Returns whether the peer should know at once what has arrived.
  bool urgent() const noexcept { return urgent_; }
  /// Notes that a frame with this order, modulo 2^24, has come in, needed or not.
  void note(std::uint32_t order) noexcept {
    if (((order - newest_) & kOrderMask) < kOrderMask / 2) newest_ = order;
  }
  /// Returns the newest order that has come in.
  std::uint32_t newest() const noexcept { return newest_; }
  /// Describes in `bits` what has arrived besides expected() and newest(). Returns the number of its bytes.
  std::size_t describe(std::array<std::byte, kAckBytes>& bits) const noexcept;
  /// Notes that an acknowledgement was sent, with its bits or without.
  void acknowledged(bool with_bits) noexcept {
    if (held_count_ > 0 && !with_bits) return;
    unacknowledged_ = 0;
    urgent_ = false;
  }

 private:
  std::unique_ptr<Incoming[]> held_;  ///< held frames by sequence number
  std::uint32_t held_count_ = 0;
  std::uint32_t expected_ = 0;
  std::uint32_t unacknowledged_ = 0;
  std::uint32_t newest_ = 0;
  bool urgent_ = false;
};

/// A token bucket: lets through no more than the line carries, in bursts that a switch can keep.
class Pacer {
 public:
  /// Makes a pacer. `bits_per_s` 0: no limit.
  explicit Pacer(std::uint64_t bits_per_s) noexcept
      : bytes_per_ns_(static_cast<double>(bits_per_s) / 8e9),
        burst_bytes_(std::max(kBurstBytes, bytes_per_ns_ * kBurstTime)),
        bytes_(burst_bytes_) {}

  /// Returns whether a frame may be sent now.
  bool ready(Nanoseconds now) noexcept {
    if (bytes_per_ns_ == 0) return true;
    if (now > last_) {
      bytes_ = std::min(burst_bytes_, bytes_ + static_cast<double>(now - last_) * bytes_per_ns_);
      last_ = now;
    }
    return bytes_ > 0;
  }
  /// Notes that a frame of so many bytes with all headers was sent. It may be longer than what was left.
  void take(std::uint64_t wire_bytes) noexcept {
    if (bytes_per_ns_ != 0) bytes_ -= static_cast<double>(wire_bytes);
  }

 private:
  static constexpr double kBurstBytes = 32 * 1538;
  static constexpr double kBurstTime = 50'000;  ///< nanoseconds that a sender may sleep

  double bytes_per_ns_;
  double burst_bytes_;
  double bytes_;
  Nanoseconds last_ = 0;
};

}  // namespace edgewire::transport::dpdk
