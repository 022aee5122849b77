#include <arpa/inet.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "transport/verbs/verbs.h"

namespace edgewire::transport::verbs {
namespace {

constexpr int kCompletions = 32;              ///< taken by one call
constexpr std::uint32_t kLooksAnEvent = 256;  ///< polls between looks at the device's own events
constexpr std::chrono::microseconds kLostPause{10'000};

std::uint32_t immediate_of(Message message, std::uint32_t kind) noexcept {
  return htonl(static_cast<std::uint32_t>(message) << kKindBits | kind);
}

}  // namespace

const Piece* Verbs::find(const std::byte* source) const noexcept {
  const Piece* piece = first_piece_.load(std::memory_order_acquire);  // pairs with release in add_piece()
  while (piece != nullptr && !(source >= piece->data && source < piece->data + piece->bytes))
    piece = piece->next;
  return piece;
}

/// How many of `bytes` at `source` can travel in one message, and their key; 0 when they are not registered.
std::size_t Verbs::run_at(const std::byte* source, std::size_t bytes, std::uint32_t& key) const noexcept {
  const Piece* piece = find(source);
  if (piece == nullptr) return 0;
  key = piece->registration->lkey;
  return std::min({bytes, static_cast<std::size_t>(piece->data + piece->bytes - source),
                   static_cast<std::size_t>(device_.attributes.max_msg_sz)});
}

bool Verbs::has_room(const Link& link, std::size_t requests) const noexcept {
  return requests <= link.depth - (link.queued - link.reaped.load(std::memory_order_acquire));
}

/// A request at the end of the batch; the caller says what it does.
ibv_send_wr& Verbs::add(Link& link, const void* source, std::size_t bytes, std::uint32_t key) noexcept {
  if (link.batched == kBatch) post(link);
  ibv_send_wr& request = link.batch[link.batched];
  ibv_sge& at = link.sources[link.batched];
  at = {reinterpret_cast<std::uintptr_t>(source), static_cast<std::uint32_t>(bytes), key};
  request = {};
  request.sg_list = &at;
  request.num_sge = bytes == 0 ? 0 : 1;
  if (bytes > 0 && bytes <= link.inline_bytes) request.send_flags = IBV_SEND_INLINE;
  if (link.batched > 0) link.batch[link.batched - 1].next = &request;
  ++link.batched;
  ++link.queued;
  return request;
}

bool Verbs::write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept {
  Link& to = link(lane, peer);
  std::size_t requests = source.empty() ? 1 : 0;
  std::uint32_t key = 0;
  for (std::size_t at = 0, bytes = 0; at < source.size(); at += bytes, ++requests) {
    bytes = run_at(source.data() + at, source.size() - at, key);
    if (bytes > 0 && requests < to.depth) continue;
    fail(-1, bytes == 0 ? "a write comes from memory that was not registered"
                        : "a write is too large for the device's queue");
    return false;
  }
  if (!has_room(to, requests)) {
    post(to);  // or nobody would ever make room
    return false;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < requests; ++i) {
    const std::size_t bytes = source.empty() ? 0 : run_at(source.data() + at, source.size() - at, key);
    if (i + 1 == requests) ++to.writes;
    ibv_send_wr& request = add(to, source.data() + at, bytes, key);
    request.opcode = IBV_WR_RDMA_WRITE;
    request.wr.rdma = {to.remote_region + offset + at, to.region_key};
    at += bytes;
  }
  lanes_[static_cast<std::size_t>(lane) * static_cast<std::size_t>(settings_.size) +
         static_cast<std::size_t>(peer)]
      .add(1, source.size(), source.size());
  return true;
}

bool Verbs::signal(int lane, int peer, int kind, std::uint64_t count) noexcept {
  Link& to = link(lane, peer);
  const std::uint32_t immediate = immediate_of(Message::Signal, static_cast<std::uint32_t>(kind));
  if (to.batched > 0) {
    const ibv_send_wr& last = to.batch[to.batched - 1];
    if (last.opcode == IBV_WR_RDMA_WRITE_WITH_IMM && last.imm_data == immediate) {
      to.counts[to.batched - 1] = std::max(to.counts[to.batched - 1], count);
      return true;
    }
  }
  // The peer has given the slot back, so that it has read the count that was there.
  if (to.signals == to.credits.load(std::memory_order_acquire) || !has_room(to, 1)) {
    post(to);
    return false;
  }
  if (to.batched == kBatch) post(to);
  std::uint64_t& place = to.counts[to.batched];
  place = count;
  ibv_send_wr& request = add(to, &place, sizeof place, 0);
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.imm_data = immediate;
  request.wr.rdma = {to.remote_slots + to.signals % kCredits * sizeof(std::uint64_t), to.slots_key};
  ++to.signals;
  lanes_[static_cast<std::size_t>(lane) * static_cast<std::size_t>(settings_.size) +
         static_cast<std::size_t>(peer)]
      .add(0, 0, sizeof place);
  return true;
}

void Verbs::ring_doorbell(int lane) noexcept {
  for (int peer = 0; peer < settings_.size; ++peer)
    if (!settings_.leaves_out(peer)) post(link(lane, peer));
}

void Verbs::post(Link& link) noexcept {
  if (link.batched == 0) return;
  ibv_send_wr& last = link.batch[link.batched - 1];
  last.send_flags |= IBV_SEND_SIGNALED;
  last.wr_id = Ticket::pack(Request::Lane, link.index, link.queued, link.writes);
  for (std::uint32_t i = 0; i + 1 < link.batched; ++i)
    link.batch[i].wr_id = Ticket::pack(Request::Lane, link.index, 0, 0);  // completes only when it fails
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(link.qp.get(), link.batch.data(), &bad);
  link.batched = 0;
  if (error != 0) fail(-1, std::string(device_.name) + " does not take requests: " + std::strerror(error));
}

/// One of our own: has its own places in the queue.
void Verbs::post_message(Link& link, Message message) noexcept {
  link.messages.fetch_add(1, std::memory_order_relaxed);
  ibv_send_wr request{};
  request.wr_id = Ticket::pack(Request::Message, link.index, 0, 0);
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.imm_data = immediate_of(message, 0);
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma = {link.remote_slots, link.slots_key};
  ibv_send_wr* bad = nullptr;
  if (const int error = ibv_post_send(link.qp.get(), &request, &bad); error != 0)
    fail(-1, std::string(device_.name) + " does not take requests: " + std::strerror(error));
}

void Verbs::post_receive(Link& link) noexcept {
  ibv_recv_wr request{};
  request.wr_id = Ticket::pack(Request::Receive, link.index, 0, 0);
  ibv_recv_wr* bad = nullptr;
  if (const int error = ibv_post_recv(link.qp.get(), &request, &bad); error != 0)
    fail(-1, std::string(device_.name) + " does not take receives: " + std::strerror(error));
}

void Verbs::give_credits(Link& link) noexcept {
  // Two places in the queue are kept for goodbye and hello.
  while (link.owed >= kReturned && link.messages.load(std::memory_order_relaxed) < kMessages - 2 &&
         !link.ended.load(std::memory_order_relaxed)) {
    link.owed -= kReturned;
    post_message(link, Message::Credit);
  }
}

/// Takes all completions that are there. Who finds another thread at it leaves it to that one, or insists.
bool Verbs::reap(bool insist) noexcept {
  while (reaping_.test_and_set(std::memory_order_acquire))
    if (!insist) return false;
  std::array<ibv_wc, kCompletions> completions;
  bool news = false;
  int count = kCompletions;
  while (count == kCompletions) {
    count = ibv_poll_cq(queue_.get(), kCompletions, completions.data());
    for (int i = 0; i < count; ++i) take(completions[static_cast<std::size_t>(i)]);
    news = news || count > 0;
  }
  if (count < 0) fail(-1, device_.name + " gives no completions");
  if (++looks_ % kLooksAnEvent == 0) look_at_events();
  report_lost();
  if (news) wakeup_.announce();
  reaping_.clear(std::memory_order_release);
  return news;
}

void Verbs::take(const ibv_wc& completion) noexcept {
  if (completion.status != IBV_WC_SUCCESS) return take_error(completion);
  const Ticket ticket(completion.wr_id);
  Link& from = *links_[ticket.link];
  switch (ticket.request) {
    case Request::Lane:
      from.completed.store(Ticket::extend(from.completed.load(std::memory_order_relaxed), ticket.writes),
                           std::memory_order_release);
      from.reaped.store(Ticket::extend(from.reaped.load(std::memory_order_relaxed), ticket.queued),
                        std::memory_order_release);
      break;
    case Request::Message:
      from.messages.fetch_sub(1, std::memory_order_relaxed);
      give_credits(from);
      break;
    case Request::Receive:
      take_message(from, ntohl(completion.imm_data));
      break;
  }
}

void Verbs::take_message(Link& link, std::uint32_t immediate) noexcept {
  post_receive(link);
  const std::uint32_t kind = immediate & ((1U << kKindBits) - 1);
  switch (static_cast<Message>(immediate >> kKindBits)) {
    case Message::Signal: {
      if (kind >= static_cast<std::uint32_t>(settings_.kinds)) {
        refused_frames_.fetch_add(1, std::memory_order_relaxed);
        return fail(link.peer,
                    "rank " + std::to_string(link.peer) + " sent a signal of kind " + std::to_string(kind));
      }
      // Volatile: the card has written it.
      const std::uint64_t count =
          *static_cast<const volatile std::uint64_t*>(link.slots + link.received % kCredits);
      ++link.received;
      ++link.owed;
      raise(signal_count(link.peer, static_cast<int>(kind)), count);
      give_credits(link);
      return;
    }
    case Message::Credit:
      link.credits.fetch_add(kReturned, std::memory_order_release);
      return;
    case Message::Hello:
      link.greeted.store(true, std::memory_order_release);
      return;
    case Message::Goodbye:
      link.ended.store(true, std::memory_order_release);
      return;
  }
}

bool Verbs::poll() noexcept {
  reap(false);
  last_look_.remember(wakeup_.generation());
  return !settings_.health->failed();
}

bool Verbs::wait(std::chrono::microseconds timeout) noexcept {
  std::uint32_t seen = 0;
  if (!last_look_.recall(seen) || settings_.health->failed()) return poll();
  if (has_lost_.load(std::memory_order_relaxed)) timeout = std::min(timeout, kLostPause);
  if (watching_.test_and_set()) {
    wakeup_.sleep(seen, timeout);
    return poll();
  }
  // After asking for an event, completions that came before must be looked for; insisting, since a thread
  // that took them without having announced them would go unnoticed.
  ibv_req_notify_cq(queue_.get(), 0);
  reap(true);
  if (wakeup_.generation() == seen) watch(timeout);
  watching_.clear();
  wakeup_.wake_sleepers();  // one of them may watch now
  return poll();
}

/// Sleeps until the device has news.
void Verbs::watch(std::chrono::microseconds timeout) noexcept {
  std::array<pollfd, 2> events{pollfd{channel_->fd, POLLIN, 0}, pollfd{device_.context->async_fd, POLLIN, 0}};
  const timespec limit{timeout.count() / 1'000'000, timeout.count() % 1'000'000 * 1000};
  if (ppoll(events.data(), events.size(), &limit, nullptr) <= 0) return;
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  while (library().get_cq_event(channel_.get(), &queue, &context) == 0) library().ack_cq_events(queue, 1);
  if (events[1].revents == 0) return;
  while (reaping_.test_and_set(std::memory_order_acquire)) continue;
  look_at_events();
  reaping_.clear(std::memory_order_release);
}

std::uint64_t Verbs::completed(int lane, int peer) const noexcept {
  const auto& link = links_[index(lane, peer)];
  return link == nullptr ? 0 : link->completed.load(std::memory_order_acquire);  // pairs with take()
}

std::uint64_t Verbs::signalled(int peer, int kind) const noexcept {
  return signal_count(peer, kind).load(std::memory_order_acquire);  // pairs with raise() in take_message()
}

Counters Verbs::counters() const noexcept {
  Counters total = sum(lanes_);
  total.wire_bytes = wire_bytes_of(total.frame_bytes);
  total.refused_frames = refused_frames_.load(std::memory_order_relaxed);
  return total;
}

/// Full packets and one for the rest. RoCE v2 on Ethernet: preamble 8, Ethernet header 14, check sequence 4,
/// gap 12, IPv4 20, UDP 8, base transport header 12, invariant check 4; InfiniBand: local route header 8,
/// base transport header 12, checks 4 and 2. The first packet names the place, in 16 bytes more.
std::uint64_t Verbs::wire_bytes_of(std::uint64_t frame_bytes) const noexcept {
  if (frame_bytes == 0) return 0;
  const std::uint64_t header_bytes = device_.is_ethernet() ? 82 : 26;
  const std::uint64_t padded = (frame_bytes + 3) / 4 * 4;
  const std::uint64_t packets = (padded + mtu_bytes_ - 1) / mtu_bytes_;
  return padded + packets * header_bytes + 16;
}

}  // namespace edgewire::transport::verbs
