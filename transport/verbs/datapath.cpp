#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "transport/verbs/verbs.h"

namespace edgewire::transport::verbs {
namespace {

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

/// Returns how many of `bytes` at `source` can travel in one message, and their key; 0: none is registered.
std::size_t Verbs::run_at(const Link& link, const std::byte* source, std::size_t bytes,
                          std::uint32_t& key) const noexcept {
  const Piece* piece = find(source);
  if (piece == nullptr) return 0;
  key = piece->registrations[link.rail].region->lkey;
  return std::min({bytes, static_cast<std::size_t>(piece->data + piece->bytes - source), longest_message_});
}

bool Verbs::has_room(const Link& link, std::size_t requests) const noexcept {
  return requests <= link.depth - (link.queued - link.reaped.load(std::memory_order_acquire));
}

/// Adds a request at the end of the batch. The caller says what it does.
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

/// Copies `here` to the peer's region, or the other way round.
bool Verbs::transfer(Link& to, ibv_wr_opcode way, std::size_t offset,
                     std::span<const std::byte> here) noexcept {
  std::size_t requests = here.empty() ? 1 : 0;
  std::uint32_t key = 0;
  for (std::size_t at = 0, bytes = 0; at < here.size(); at += bytes, ++requests) {
    bytes = run_at(to, here.data() + at, here.size() - at, key);
    if (bytes > 0 && requests < to.depth) continue;
    fail(-1, bytes == 0 ? "a write comes from memory that was not registered"
                        : "a write is too large for the device's queue");
    return false;
  }
  if (!has_room(to, requests)) {
    post(to);  // otherwise no thread would make room
    return false;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i < requests; ++i) {
    const std::size_t bytes = here.empty() ? 0 : run_at(to, here.data() + at, here.size() - at, key);
    if (i + 1 == requests) ++to.writes;
    ibv_send_wr& request = add(to, here.data() + at, bytes, key);
    request.opcode = way;
    if (way == IBV_WR_RDMA_READ) request.send_flags = 0;  // a read has no data to take along
    request.wr.rdma = {to.remote_region + offset + at, to.region_key};
    at += bytes;
  }
  return true;
}

bool Verbs::write(int lane, int peer, std::size_t offset, std::span<const std::byte> source) noexcept {
  if (!transfer(link(lane, peer), IBV_WR_RDMA_WRITE, offset, source)) return false;
  lane_counters(lane, peer).add(1, source.size(), source.size());
  return true;
}

bool Verbs::read_remote(int lane, int peer, std::size_t offset, std::span<std::byte> sink) noexcept {
  return can_read(peer) && transfer(link(lane, peer), IBV_WR_RDMA_READ, offset, sink);
}

bool Verbs::signal(int lane, int peer, int kind, std::uint64_t count) noexcept {
  Link& to = link(lane, peer);
  const std::uint32_t immediate = immediate_of(Message::Signal, static_cast<std::uint32_t>(kind));
  if (to.batched > 0) {
    SentMessage& last = to.signals_sent[to.batched - 1];
    const ibv_wr_opcode way = to.batch[to.batched - 1].opcode;
    if (way != IBV_WR_RDMA_WRITE && way != IBV_WR_RDMA_READ && last.immediate == immediate) {
      last.count = std::max(last.count, count);
      return true;
    }
  }
  // The peer has given the slot back, so it has read the count that was there.
  if (to.signals == to.credits.load(std::memory_order_acquire) || !has_room(to, 1)) {
    post(to);
    return false;
  }
  if (to.batched == kBatch) post(to);
  SentMessage& sent = to.signals_sent[to.batched];
  sent = {immediate, 0, count};
  std::size_t bytes = sizeof sent.count;
  if (settings_.verbs.immediates) {
    ibv_send_wr& request = add(to, &sent.count, bytes, 0);
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.imm_data = immediate;
    request.wr.rdma = {to.remote_counts + to.signals % kCredits * sizeof count, to.counts_key};
  } else {
    bytes = sizeof sent;
    add(to, &sent, bytes, 0).opcode = IBV_WR_SEND;
  }
  ++to.signals;
  lane_counters(to.lane, to.peer).add(0, 0, bytes);
  return true;
}

void Verbs::ring_doorbell(int lane) noexcept {
  for (int peer = 0; peer < settings_.size; ++peer)
    if (!settings_.leaves_out(peer)) post(link(lane, peer));
}

/// Gives requests to the card. A broken iWARP connection takes none, and its receives tell of it.
void Verbs::submit(Link& link, ibv_send_wr& first) noexcept {
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(link.qp.get(), &first, &bad);
  const int cause = error == -1 ? errno : std::abs(error);
  if (error == 0 || (device_of(link).is_iwarp && cause == ENOTCONN)) return;
  fail(-1, device_of(link).name + " does not take requests: " + std::strerror(cause));
}

void Verbs::post(Link& link) noexcept {
  if (link.batched == 0) return;
  ibv_send_wr& last = link.batch[link.batched - 1];
  last.send_flags |= IBV_SEND_SIGNALED;
  last.wr_id = Ticket::pack(Request::Lane, link.index, link.queued, link.writes);
  // The request completes only when it fails.
  for (std::uint32_t i = 0; i + 1 < link.batched; ++i)
    link.batch[i].wr_id = Ticket::pack(Request::Lane, link.index, 0, 0);
  link.batched = 0;
  submit(link, link.batch[0]);
}

/// Posts a message of our own, which takes its own places in the queue.
void Verbs::post_message(Link& link, Message message) noexcept {
  link.messages.fetch_add(1, std::memory_order_relaxed);
  ibv_send_wr request{};
  request.wr_id = Ticket::pack(Request::Message, link.index, 0, 0);
  request.send_flags = IBV_SEND_SIGNALED;
  const SentMessage sent{immediate_of(message, 0)};
  ibv_sge source{reinterpret_cast<std::uintptr_t>(&sent), sizeof sent, 0};
  if (settings_.verbs.immediates) {
    request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    request.imm_data = sent.immediate;
    request.wr.rdma = {link.remote_counts + offsetof(Arrivals, greeting) - offsetof(Arrivals, counts),
                       link.counts_key};
    source = {reinterpret_cast<std::uintptr_t>(&kGreeting), sizeof kGreeting, 0};
  } else {
    request.opcode = IBV_WR_SEND;
  }
  if (message == Message::Hello || !settings_.verbs.immediates) {
    request.send_flags |= IBV_SEND_INLINE;
    request.sg_list = &source;
    request.num_sge = 1;
  }
  submit(link, request);
}

/// Reads a word from the peer, whose card answers without its process.
void Verbs::post_look(Link& link) noexcept {
  ibv_sge sink{reinterpret_cast<std::uintptr_t>(&link.arrivals->seen), sizeof link.arrivals->seen,
               rails_[link.rail].arrivals.region->lkey};
  ibv_send_wr request{};
  request.wr_id = Ticket::pack(Request::Look, link.index, 0, 0);
  request.sg_list = &sink;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_READ;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma = {link.remote_counts, link.counts_key};
  submit(link, request);
}

/// Posts a receive. `place`: the place in Arrivals::messages where a send goes.
void Verbs::post_receive(Link& link, std::size_t place) noexcept {
  ibv_recv_wr request{};
  request.wr_id = Ticket::pack(Request::Receive, link.index, place, 0);
  ibv_sge at{reinterpret_cast<std::uintptr_t>(&link.arrivals->messages[place]), sizeof(SentMessage),
             rails_[link.rail].arrivals.region->lkey};
  if (!settings_.verbs.immediates) {
    request.sg_list = &at;
    request.num_sge = 1;
  }
  ibv_recv_wr* bad = nullptr;
  if (const int error = ibv_post_recv(link.qp.get(), &request, &bad); error != 0)
    fail(-1, device_of(link).name + " does not take receives: " + std::strerror(error));
}

void Verbs::give_credits(Link& link) noexcept {
  // Three places in the queue are kept for goodbye, hello and look.
  while (link.owed >= kReturned && link.messages.load(std::memory_order_relaxed) < kMessages - 3 &&
         !link.ended.load(std::memory_order_relaxed)) {
    link.owed -= kReturned;
    post_message(link, Message::Credit);
  }
}

std::uint64_t Verbs::completed(int lane, int peer) const noexcept {
  const auto& link = links_[index(lane, peer)];
  return link == nullptr ? 0 : link->completed.load(std::memory_order_acquire);  // pairs with take()
}

Counters Verbs::counters() const noexcept {
  Counters total = NetworkBackend::counters();
  if (connector_ != nullptr) total.refused_connections = connector_->refused();
  return total;
}

/// Counts full packets and one for the rest. iWARP on Ethernet: preamble 8, Ethernet header 14, check
/// sequence 4, gap 12, IPv4 20, TCP with timestamps 32, length 2 and check 4 (RFC 5044), headers 14 (RFC
/// 5041, 5040). RoCE v2 on Ethernet: preamble 8, Ethernet header 14, check sequence 4, gap 12, IPv4 20, UDP
/// 8, base transport header 12, invariant check 4; InfiniBand: local route header 8, base transport header
/// 12, checks 4 and 2. IPv6 takes 20 bytes more. The first packet names the place, in 16 bytes more.
std::uint64_t Verbs::wire_bytes_of(std::uint64_t frame_bytes) const noexcept {
  if (frame_bytes == 0) return 0;
  const Device& device = rails_.front().device;
  const std::uint64_t more = device.is_ethernet() && !device.has_ipv4() ? 20 : 0;
  const std::uint64_t header_bytes = (device.is_iwarp ? 110 : device.is_ethernet() ? 82 : 26) + more;
  const std::uint64_t padded = (frame_bytes + 3) / 4 * 4;
  const std::uint64_t packets = (padded + mtu_bytes_ - 1) / mtu_bytes_;
  return padded + packets * header_bytes + (device.is_iwarp ? 0 : 16);
}

}  // namespace edgewire::transport::verbs
