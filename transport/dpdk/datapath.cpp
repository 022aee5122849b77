#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <thread>

#include "transport/dpdk/dpdk.h"

namespace edgewire::transport::dpdk {
namespace {

constexpr std::uint32_t kAckEvery = 32;  ///< number of frames to acknowledge at once
/// Number of frames to acknowledge at once while one is missing.
constexpr std::uint32_t kAckEveryMissing = 8;
constexpr Nanoseconds kAckDelay = 50'000;  ///< longest wait before an acknowledgement when nothing is missing
constexpr int kLooks = 300;                ///< looks in vain before a waiting thread rests
constexpr std::chrono::microseconds kRest{50};
constexpr std::size_t kFramesAStep = 64;  ///< frames of one peer before it is another one's turn

}  // namespace

Link::Link(Dpdk& owner, int peer_rank, int lanes)
    : peer(peer_rank), owner_(owner), queues_(lanes), cut_(lanes) {}

std::uint64_t Link::key() const noexcept { return owner_.key_; }

bool Link::has_work() noexcept {
  return std::ranges::any_of(queues_, [](const LaneQueue& queue) { return queue.size() > 0; });
}

bool Link::take(const Incoming& frame, const Header& header, std::span<const std::byte> payload,
                Nanoseconds now) noexcept {
  if (!active.load(std::memory_order_acquire)) return false;  // the peer will say it again
  heard_at_ = now;
  const auto done = [this](const Content& content) {
    if (content.type == FrameType::Hello) greeting_arrived_ = true;
    if (!content.ends_write) return;
    auto& completed = lane(content.lane).completed;
    completed.store(completed.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    news_ = true;
  };
  const bool is_ack = header.type == FrameType::Ack;
  if (is_ack) {
    sender_.acknowledge(header.ack, unpack_order(header.order), payload, now, done);
    return false;
  }
  sender_.acknowledge(header.ack, Sender::kUnknown, {}, now, done);
  receiver_.note(unpack_order(header.order));
  if (header.sequence != receiver_.expected() && !owner_.station_->may_keep()) {
    crowded_out.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (receiver_.unacknowledged() == 0) owed_since_ = now;
  switch (receiver_.arrive(header.sequence, frame)) {
    case Receiver::Verdict::InOrder:
      break;
    case Receiver::Verdict::Held:
      reordered.fetch_add(1, std::memory_order_relaxed);
      return true;
    case Receiver::Verdict::Duplicate:
    case Receiver::Verdict::Outside:
      duplicates.fetch_add(1, std::memory_order_relaxed);
      return false;
  }
  place(header, payload);
  for (Incoming held = receiver_.next(); held.data != nullptr; held = receiver_.next()) {
    const std::span<const std::byte> body = owner_.station_->body(held);
    const Header its = header_of(body);
    place(its, body.subspan(sizeof its, its.bytes));
    owner_.station_->release(held);
  }
  return false;
}

/// Does what the next frame in order says.
void Link::place(const Header& header, std::span<const std::byte> payload) noexcept {
  const auto refuse = [this](const std::string& cause) {
    owner_.refused_frames_.fetch_add(1, std::memory_order_relaxed);
    owner_.fail(peer, fmt::format("rank {} {}", peer, cause));
  };
  switch (header.type) {
    case FrameType::Data: {
      if (!owner_.may_write(peer, header.place, payload.size()))
        return refuse(
            fmt::format("sent {} bytes for offset {}, outside its part", payload.size(), header.place));
      if (!payload.empty()) std::memcpy(owner_.region_.data() + header.place, payload.data(), payload.size());
      return;
    }
    case FrameType::Signal:
      if (header.kind >= owner_.settings_.kinds)
        return refuse(fmt::format("sent a signal of kind {}", header.kind));
      raise(owner_.signal_count(peer, header.kind), header.place);
      break;
    case FrameType::Hello:
      break;
    case FrameType::Goodbye:
      ended.store(true, std::memory_order_release);
      break;
    default:
      return refuse(fmt::format("sent a frame of type {}", static_cast<int>(header.type)));
  }
  news_ = true;
}

/// Takes the next frame that has not been sent. Returns false when there is none.
bool Link::next_content(Content& content) noexcept {
  if (!greeting_) {
    greeting_ = true;
    content = {};
    content.type = FrameType::Hello;
    return true;
  }
  for (std::size_t i = 0; i < queues_.size(); ++i, turn_ = (turn_ + 1) % queues_.size()) {
    LaneQueue& queue = queues_[turn_];
    const std::uint64_t works = queue.size();
    if (works == 0) continue;
    LaneQueue::Work& work = queue.at(0);
    if (work.type == FrameType::Signal && works > 1 && queue.at(1).type == FrameType::Signal &&
        queue.at(1).kind == work.kind) {  // the later one says it all
      queue.at(1).place = std::max(queue.at(1).place, work.place);
      queue.pop();
      return next_content(content);
    }
    std::size_t& cut = cut_[turn_];
    const std::size_t bytes = std::min<std::size_t>(work.bytes - cut, owner_.payload_bytes_);
    content = {work.source + cut,
               work.place + cut,
               static_cast<std::uint16_t>(bytes),
               work.kind,
               static_cast<std::uint16_t>(turn_),
               work.type,
               false};
    cut += bytes;
    if (cut < work.bytes) return true;
    content.ends_write = work.type == FrameType::Data;
    cut = 0;
    queue.pop();
    return true;
  }
  if (!leaving.load(std::memory_order_acquire) || has_left_ || has_work()) return false;
  quiet.store(false, std::memory_order_relaxed);
  has_left_.store(true, std::memory_order_release);
  content = {};
  content.type = FrameType::Goodbye;
  return true;
}

void Link::send(Outgoing& to, const Sender::Frame& frame, Nanoseconds now) noexcept {
  const Content& content = frame.content;
  to.payload = {content.source, content.bytes};
  to.lane = content.lane;
  send(to,
       {remote_number, 0, frame.sequence, receiver_.expected(), content.place, content.bytes, content.kind,
        content.type, pack_order(frame.order)},
       now);
}

void Link::send_ack(Outgoing& to, Nanoseconds now) noexcept {
  to.payload = std::span(to.own).first(receiver_.describe(to.own));
  to.lane = 0;
  send(to,
       {remote_number, 0, 0, receiver_.expected(), 0, 0, 0, FrameType::Ack, pack_order(receiver_.newest())},
       now);
}

void Link::send(Outgoing& to, const Header& header, Nanoseconds now) noexcept {
  encode(to.head, envelope, to.lane, header, to.payload, owner_.key_);
  owner_.station_->sent();
  receiver_.acknowledged(header.type == FrameType::Ack);
  sent_at_ = now;
}

bool Link::ack_is_due(Nanoseconds now) const noexcept {
  if (receiver_.urgent()) return true;
  const std::uint32_t frames = receiver_.unacknowledged();
  if (receiver_.held() > 0 && frames >= kAckEveryMissing) return true;
  return frames > 0 && (frames >= kAckEvery || now - owed_since_ >= kAckDelay);
}

void Link::step(Nanoseconds now) noexcept {
  if (!active.load(std::memory_order_acquire)) return;
  Station& station = *owner_.station_;
  if (stepped_at_ == 0) stepped_at_ = heard_at_ = now;
  sender_.look_at_timer(now);
  // Only a separate acknowledgement reports missing frames, so it does not wait for paced frames.
  if (receiver_.held() > 0 && ack_is_due(now))
    if (Outgoing* const to = station.room(); to != nullptr) send_ack(*to, now);
  std::size_t frames = 0;
  for (; sender_.has_lost() && frames < kFramesAStep; ++frames) {
    Outgoing* const to = station.room(now);
    const Sender::Frame* const lost = to == nullptr ? nullptr : sender_.send_lost(now);
    if (lost == nullptr) break;
    retransmitted_bytes.fetch_add(lost->content.bytes, std::memory_order_relaxed);
    send(*to, *lost, now);
  }
  for (Content content; sender_.has_room() && frames < kFramesAStep; ++frames) {
    Outgoing* const to = station.room(now);
    if (to == nullptr || !next_content(content)) break;
    send(*to, sender_.send(content, now), now);
  }
  const auto keepalive = static_cast<Nanoseconds>(owner_.settings_.peer_timeout_s * 1e9 / 8);
  if (ack_is_due(now) || (now - sent_at_ > keepalive && !has_left_))
    if (Outgoing* const to = station.room(now); to != nullptr) send_ack(*to, now);
  look_for_silence(now);
  if (!greeted.load(std::memory_order_relaxed) && greeting_arrived_ && receiver_.expected() > 0) {
    greeted.store(true, std::memory_order_release);
    news_ = true;
  }
  quiet.store(sender_.idle() && !has_work() && leaving.load(std::memory_order_relaxed) == has_left_,
              std::memory_order_release);
  if (!std::exchange(news_, false)) return;
  owner_.wakeup_.announce();
}

void Link::look_for_silence(Nanoseconds now) noexcept {
  const auto limit = static_cast<Nanoseconds>(owner_.settings_.peer_timeout_s * 1e9);
  // If this process did not run for a while, the silence is not the peer's.
  const Nanoseconds pause = now - std::exchange(stepped_at_, now);
  if (pause > limit / 4) heard_at_ += pause;
  if (now - heard_at_ <= limit || ended.load(std::memory_order_relaxed)) return;
  heard_at_ = now;
  owner_.fail(peer, fmt::format("rank {} has been silent for {:.1f} s over {}", peer,
                                owner_.settings_.peer_timeout_s, owner_.settings_.dpdk.port));
}

bool Dpdk::write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept {
  if (!link(peer).lane(lane).push({source.data(), source.size(), offset, 0, FrameType::Data})) return false;
  lane_counters(lane, peer).add(1, source.size(), source.size());
  return true;
}

bool Dpdk::signal(int lane, int peer, int kind, std::uint64_t count) noexcept {
  if (!link(peer).lane(lane).push({nullptr, 0, count, static_cast<std::uint16_t>(kind), FrameType::Signal}))
    return false;
  lane_counters(lane, peer).add(0, 0, sizeof count);
  return true;
}

void Dpdk::ring_doorbell(int) noexcept { station_->progress(); }

bool Dpdk::poll() noexcept {
  station_->progress();
  last_look_.remember(wakeup_.generation());
  return !settings_.health->failed();
}

bool Dpdk::wait(std::chrono::microseconds timeout) noexcept {
  std::uint32_t seen = 0;
  if (!last_look_.recall(seen) || settings_.health->failed()) return poll();
  if (watching_.test_and_set()) {
    wakeup_.sleep_if(seen, timeout, [&] { return watching_.test(); });
    return poll();
  }
  const Nanoseconds end = now_ns() + std::chrono::nanoseconds(timeout).count();
  for (int looks = 0; wakeup_.generation() == seen && now_ns() < end; ++looks) {
    if (station_->progress()) looks = 0;
    if (looks < kLooks)
      sched_yield();
    else
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(kRest, timeout));
  }
  watching_.clear();
  wakeup_.wake_sleepers();  // one of them may watch now
  return poll();
}

std::uint64_t Dpdk::completed(int lane, int peer) const noexcept {
  const auto& to = links_[peer];
  return to == nullptr ? 0 : to->lane(lane).completed.load(std::memory_order_acquire);
}

Counters Dpdk::counters() const noexcept {
  Counters total = NetworkBackend::counters();
  for (const auto& link : links_) {
    if (link == nullptr) continue;
    total.retransmitted_bytes += link->retransmitted_bytes.load(std::memory_order_relaxed);
    total.duplicate_frames += link->duplicates.load(std::memory_order_relaxed);
    total.reordered_frames += link->reordered.load(std::memory_order_relaxed);
    total.missed_frames += link->crowded_out.load(std::memory_order_relaxed);
  }
  total.corrupt_frames = station_->strays().corrupt.load(std::memory_order_relaxed);
  total.foreign_frames = station_->strays().foreign.load(std::memory_order_relaxed);
  total.missed_frames += station_->missed();
  for (std::size_t queue = 0; queue < kMostQueues; ++queue)
    total.queue_frames[queue] = station_->received_by(queue);
  total.sends_in_place = station_->facts().sends_in_place;
  return total;
}

/// Counts full frames and one for the rest, each with preamble 8, Ethernet header 14, those of IP and UDP if
/// there are any, our header, check sequence 4, gap 12.
std::uint64_t Dpdk::wire_bytes_of(std::uint64_t frame_bytes) const noexcept {
  const std::uint64_t overhead = 8 + envelope_bytes(own_ip_.used) + sizeof(Header) + 4 + 12;
  const std::uint64_t frames = (frame_bytes + payload_bytes_ - 1) / payload_bytes_;
  return frame_bytes + frames * overhead;
}

}  // namespace edgewire::transport::dpdk
