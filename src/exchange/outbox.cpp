#include "exchange/outbox.h"

#include <algorithm>
#include <cstring>

namespace edgewire::exchange {

namespace {

/// Lists that are read once, front to back, are asked for so many entries ahead: the processor by itself asks
/// for less.
constexpr std::size_t kAhead = 512;
/// Source values, which are read in any order, so many slots ahead.
constexpr std::size_t kValuesAhead = 128;

}  // namespace

template <class Message>
Outbox<Message>::Outbox(Exchange& exchange, const Codec& codec)
    : exchange_(exchange), codec_(codec), near_(static_cast<std::size_t>(exchange.lanes())) {
  for (int lane = 0; lane < exchange.lanes(); ++lane) sent_.emplace_back(exchange.lane_chunks(lane).size());
  if (!plan::is_rounded(exchange.encoding())) return;
  for (const auto& stream : exchange.outgoing()) residuals_.emplace_back(stream.slots);
}

/// value(i) is what goes into slot i of the chunk. `again`: the slots hold what was filled in last time.
template <class Message>
template <class Value>
void Outbox<Message>::fill(const OutgoingChunk& chunk, std::size_t values, std::byte* slots, bool again,
                           const Value& value) noexcept {
  if (!residuals_.empty()) {
    auto* codes = reinterpret_cast<std::uint16_t*>(slots);
    float* residuals = residuals_[chunk.stream].data() + chunk.first_slot;
    for (std::size_t i = 0; i < values; ++i)
      codes[i] = codec_.encode(static_cast<float>(value(i)), residuals[i]);
    return;
  }
  if (!exchange_.ids_travel()) {
    auto* messages = reinterpret_cast<Message*>(slots);
    for (std::size_t i = 0; i < values; ++i) messages[i] = value(i);
    return;
  }
  auto* pairs = reinterpret_cast<IdValue<Message>*>(slots);
  const std::uint32_t* ids = exchange_.outgoing()[chunk.stream].ids.data() + chunk.first_slot;
  if (again) {
    for (std::size_t i = 0; i < values; ++i) pairs[i].value = value(i);
    return;
  }
  for (std::size_t i = 0; i < values; ++i) {
    __builtin_prefetch(ids + std::min(i + kAhead, values));
    pairs[i] = {ids[i], value(i)};
  }
}

/// Near memory for a chunk, with the place in a cache line that it has at the peer (`at`). None when the
/// chunk is too large, or while the link still needs what left from there.
template <class Message>
std::span<std::byte> Outbox<Message>::near_memory(int lane, std::size_t at,
                                                  std::size_t bytes) const noexcept {
  const auto memory = exchange_.near_memory(lane);
  const Near& near = near_[static_cast<std::size_t>(lane)];
  if (at % 64 + bytes > memory.size()) return {};
  if (near.peer >= 0 && exchange_.link().completed(lane, near.peer) < near.sent) return {};
  return memory.subspan(at % 64, bytes);
}

/// fill(address, again) writes the values of the chunk where they go.
template <class Message>
template <class Fill>
bool Outbox<Message>::send(const OutgoingChunk& chunk, std::size_t values, std::uint64_t iteration,
                           const Fill& fill) noexcept {
  const OutgoingStream& stream = exchange_.outgoing()[chunk.stream];
  const int peer = stream.peer;
  const auto lane = static_cast<int>(chunk.chunk.lane);
  const std::size_t at = chunk.first_slot * exchange_.value_bytes();
  const std::size_t bytes = values * exchange_.value_bytes();
  const std::size_t remote = stream.remote_offset + exchange_.parity_shift_to(peer, iteration) + at;
  auto& link = exchange_.link();
  if (std::byte* slots = link.remote_ptr(peer, remote); slots != nullptr) {
    fill(slots, false);
    link.stored(lane, peer, bytes);
  } else {
    const auto number = static_cast<std::size_t>(&chunk - exchange_.lane_chunks(lane).data());
    auto source = near_memory(lane, remote, bytes);
    const bool near = !source.empty();
    if (!near) {
      if (!exchange_.wait_completed(lane, peer, sent_[lane][number])) return false;
      source = exchange_.send_memory().subspan(stream.send_offset + at, bytes);
    }
    fill(source.data(), !near && sent_[lane][number] != 0);
    if (!exchange_.write(lane, peer, remote, source)) return false;
    const std::uint64_t sent = exchange_.writes(lane, peer);
    if (near) {
      near_[static_cast<std::size_t>(lane)] = {peer, sent};
    } else {
      sent_[lane][number] = sent;
    }
  }
  const std::uint64_t before = (iteration - 1) * exchange_.chunks_to(peer, chunk.chunk.lane);
  return exchange_.signal(lane, peer, kFirstLaneKind + lane, before + chunk.chunk.ordinal + 1);
}

template <class Message>
bool Outbox<Message>::publish(const OutgoingChunk& chunk, std::span<const double> sums,
                              std::uint64_t iteration) noexcept {
  return send(chunk, sums.size(), iteration, [&](std::byte* slots, bool again) {
    fill(chunk, sums.size(), slots, again, [sums](std::size_t i) { return static_cast<Message>(sums[i]); });
  });
}

template <class Message>
bool Outbox<Message>::publish_values(const OutgoingChunk& chunk, std::span<const Message> values,
                                     std::uint64_t iteration) noexcept {
  const OutgoingStream& stream = exchange_.outgoing()[chunk.stream];
  const std::uint32_t* indexes = stream.indexes.data() + chunk.first_slot;
  const std::size_t count = chunk.chunk.end_slot - chunk.first_slot;
  const auto value = [values, indexes, count](std::size_t i) {
    __builtin_prefetch(indexes + std::min(i + kAhead, count));
    __builtin_prefetch(&values[indexes[std::min(i + kValuesAhead, count - 1)]]);
    return values[indexes[i]];
  };
  return send(chunk, count, iteration, [&](std::byte* slots, bool again) {
    if (stream.weights.empty()) return fill(chunk, count, slots, again, value);
    const float* weights = stream.weights.data() + chunk.first_slot;
    fill(chunk, count, slots, again, [&](std::size_t i) {
      return static_cast<Message>(static_cast<double>(value(i)) * static_cast<double>(weights[i]));
    });
  });
}

template <class Message>
bool Outbox<Message>::publish_scalars(const Scalars& scalars, std::uint64_t iteration) noexcept {
  // Two cells: every peer has taken the scalars before last (it has sent those of the last iteration since).
  const auto memory = exchange_.send_memory();
  const auto cell =
      memory.subspan(memory.size() - (2 - iteration % 2) * Exchange::kScalarsBytes, sizeof(Scalars));
  std::memcpy(cell.data(), scalars.data(), sizeof(Scalars));
  for (int p = 0; p < exchange_.size(); ++p) {
    if (p == exchange_.rank()) continue;
    if (!exchange_.write(0, p, exchange_.remote_scalars_offset(p, iteration), cell) ||
        !exchange_.signal(0, p, kScalarsKind, iteration + 1)) {
      return false;
    }
  }
  return true;
}

template class Outbox<float>;
template class Outbox<double>;

}  // namespace edgewire::exchange
