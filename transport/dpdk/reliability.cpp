#include "transport/dpdk/reliability.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <utility>

namespace edgewire::transport::dpdk {

Sender::Sender(std::uint32_t first)
    : frames_(std::make_unique<Frame[]>(kWindow)),
      sendings_(std::make_unique<Sending[]>(kSendings)),
      lost_(std::make_unique<std::uint32_t[]>(kWindow)),
      oldest_(first),
      next_(first),
      round_end_(first) {}

void Sender::note_sending(Frame& frame, Nanoseconds now) noexcept {
  frame.order_before = std::exchange(frame.order, ++orders_);
  frame.sent_at = now;
  frame.lost = false;
  ++frame.times;
  ++under_way_;
  ++round_sent_;
  sendings_[next_sending_++ % kSendings] = {frame.sequence, frame.order};
}

const Sender::Frame& Sender::send(const Content& content, Nanoseconds now) noexcept {
  Frame& added = frame(next_);
  added = {};
  added.content = content;
  added.sequence = next_++;
  note_sending(added, now);
  return added;
}

const Sender::Frame* Sender::send_lost(Nanoseconds now) noexcept {
  while (lost_count_ > 0) {
    Frame& again = frame(lost_[first_lost_]);
    const bool wanted = again.sequence == lost_[first_lost_] && again.lost;
    first_lost_ = (first_lost_ + 1) % kWindow;
    --lost_count_;
    if (!wanted) continue;
    note_sending(again, now);
    return &again;
  }
  return nullptr;
}

void Sender::arrive(Frame& frame, bool newest_is_known) noexcept {
  if (frame.arrived) return;
  frame.arrived = true;
  ++arrivals_;
  if (!frame.lost) --under_way_;
  frame.lost = false;
  // An acknowledgement does not tell which of several sendings has arrived (Karn and Partridge, 1987)...
  if (frame.times == 1) newest_sent_at_ = std::max(newest_sent_at_, frame.sent_at);
  // But nothing as new as the last sending has arrived: it was an earlier, late one (RFC 3522, Eifel).
  else if (newest_is_known && newest_arrived_ < frame.order && newest_arrived_ > frame.order_before)
    overtaken_ = std::clamp(newest_arrived_ - frame.order_before + 1, overtaken_, kMostOvertaken);
}

bool Sender::take(std::uint32_t ack, std::uint32_t newest, std::span<const std::byte> bits,
                  Nanoseconds now) noexcept {
  if (ack - oldest_ > next_ - oldest_) return false;
  const std::uint32_t arrived_before = arrivals_;
  const std::uint64_t newest_before = newest_arrived_;
  if (newest != kUnknown) {
    const std::uint64_t order = orders_ - ((orders_ - newest) & kOrderMask);
    if (order <= orders_) newest_arrived_ = std::max(newest_arrived_, order);
  }
  for (std::uint32_t sequence = oldest_; sequence != ack; ++sequence)
    arrive(frame(sequence), newest != kUnknown);
  for (std::size_t i = 0; i < bits.size() && ack + 1 + 8 * static_cast<std::uint32_t>(i) - oldest_ < kWindow;
       ++i) {
    for (auto byte = std::to_integer<unsigned>(bits[i]); byte != 0; byte &= byte - 1) {
      const std::uint32_t sequence =
          ack + 1 + static_cast<std::uint32_t>(8 * i) + static_cast<std::uint32_t>(std::countr_zero(byte));
      if (sequence - oldest_ < next_ - oldest_) arrive(frame(sequence), newest != kUnknown);
    }
  }
  oldest_ = ack;
  if (arrivals_ == arrived_before && newest_arrived_ == newest_before) return true;
  timeouts_ = 0;
  timer_start_ = now;
  if (newest_sent_at_ >= 0) measure(now - std::exchange(newest_sent_at_, -1));
  find_losses();
  end_round();
  return true;
}

/// Returns the frame that was sent first of those under way; null when there is none.
Sender::Frame* Sender::first_sending() noexcept {
  for (; first_sending_ != next_sending_; ++first_sending_) {
    const Sending& first = sendings_[first_sending_ % kSendings];
    Frame& sent = frame(first.sequence);
    if (sent.sequence == first.sequence && sent.order == first.order && !sent.arrived && !sent.lost)
      return &sent;
  }
  return nullptr;
}

void Sender::lose(Frame& frame) noexcept {
  frame.lost = true;
  --under_way_;
  ++round_lost_;
  lost_[(first_lost_ + lost_count_++) % kWindow] = frame.sequence;
}

void Sender::find_losses() noexcept {
  for (Frame* first = first_sending(); first != nullptr && first->order + overtaken_ <= newest_arrived_;
       first = first_sending())
    lose(*first);
}

void Sender::look_at_timer(Nanoseconds now) noexcept {
  Frame* const first = has_lost() ? nullptr : first_sending();
  if (first == nullptr || now - std::max(first->sent_at, timer_start_) < timeout()) return;
  timer_start_ = now;
  lose(*first);
  if (timeouts_ < 8) ++timeouts_;
  if (timeouts_ > 4) window_ = std::max(kLeastWindow, window_ / 2);
}

/// Follows RFC 6298, section 2.
void Sender::measure(Nanoseconds round_trip) noexcept {
  if (smoothed_ == 0) {
    smoothed_ = round_trip;
    variation_ = round_trip / 2;
  } else {
    variation_ += (std::abs(smoothed_ - round_trip) - variation_) / 4;
    smoothed_ += (round_trip - smoothed_) / 8;
  }
  timeout_ = std::clamp(smoothed_ + 4 * variation_, kLeastTimeout, kMostTimeout);
}

/// Adapts the window to losses. Ethernet also loses single frames for no reason that sending less would
/// remove: the window shrinks only when a sixth of a round is lost, as when a queue on the way is full.
void Sender::end_round() noexcept {
  if (round_end_ - oldest_ - 1 < kWindow) return;  // the round has not ended
  if (round_lost_ > 8 && round_lost_ > round_sent_ / 6) {
    window_ = std::max(kLeastWindow, window_ - window_ / 4);
    opening_ = false;
  } else {
    window_ = std::min(kWindow, window_ + (opening_ ? window_ : window_ / 8));
  }
  round_end_ = next_;
  round_sent_ = round_lost_ = 0;
}

std::size_t Receiver::describe(std::array<std::byte, kAckBytes>& bits) const noexcept {
  if (held_count_ == 0) return 0;
  std::size_t bytes = 0;
  bits.fill({});
  for (std::uint32_t i = 0, found = 0; found < held_count_ && i + 1 < kWindow; ++i) {
    if (held_[(expected_ + 1 + i) % kWindow].data == nullptr) continue;
    ++found;
    bits[i / 8] |= static_cast<std::byte>(1U << i % 8);
    bytes = i / 8 + 1;
  }
  return bytes;
}

}  // namespace edgewire::transport::dpdk
