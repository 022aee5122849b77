#include "dense/exchange/outbox.h"

#include <cmath>
#include <cstring>

namespace edgewire::exchange {

Outbox::Outbox(Exchange& exchange, SlotLoops& loops, const Codec& codec)
    : exchange_(exchange), loops_(loops), codec_(codec), near_(static_cast<std::size_t>(exchange.lanes())) {
  for (int lane = 0; lane < exchange.lanes(); ++lane) sent_.emplace_back(exchange.lane_chunks(lane).size());
  if (!plan::is_rounded(exchange.encoding())) return;
  for (const auto& stream : exchange.outgoing()) residuals_.emplace_back(stream.slots);
  scales_.resize(residuals_.size());
}

void Outbox::publish_powers() {
  if (scales_.empty()) return;
  for (std::size_t s = 0; s < scales_.size(); ++s) {
    const OutgoingStream& stream = exchange_.outgoing()[s];
    if (!stream.mirrors || stream.slots == 0) continue;
    auto powers = loops_.powers(stream.indexes);
    for (const std::int16_t power : powers) scales_[s].push_back(std::ldexp(1.0F, power));
    powers.resize(stream.slots);
    const auto source = exchange_.send_memory().subspan(stream.send_offset, powers.size() * sizeof powers[0]);
    std::memcpy(source.data(), powers.data(), source.size());
    exchange_.write_setup(stream.peer, exchange_.remote_slots_of(stream, 0), source);
  }
  exchange_.wait_for_setup_writes();
}

/// Returns near memory for a chunk, at the same place in a cache line as at the peer (`at`). Returns none
/// when the chunk is too large, or while the link still needs the memory for the last chunk.
std::span<std::byte> Outbox::near_memory(int lane, std::size_t at, std::size_t bytes) const noexcept {
  const auto memory = exchange_.near_memory(lane);
  const Near& near = near_[lane];
  if (at % 64 + bytes > memory.size()) return {};
  if (near.peer >= 0 && exchange_.link().completed(lane, near.peer) < near.sent) return {};
  return memory.subspan(at % 64, bytes);
}

/// Sends a chunk: fill(slots) writes its values to their slots.
template <class Fill>
bool Outbox::send(const OutgoingChunk& chunk, std::uint64_t iteration, const Fill& fill) noexcept {
  const OutgoingStream& stream = exchange_.outgoing()[chunk.stream];
  const int peer = stream.peer;
  const auto lane = static_cast<int>(chunk.chunk.lane);
  const auto [at, first_bit] = exchange_.place_of(stream, chunk.first_slot);
  OutgoingSlots slots;
  slots.count = chunk.chunk.end_slot - chunk.first_slot;
  if (!residuals_.empty()) {
    slots.codec = &codec_;
    slots.residuals = residuals_[chunk.stream].data() + chunk.first_slot;
    if (const auto& scales = scales_[chunk.stream]; !scales.empty())
      slots.scales = scales.data() + chunk.first_slot;
  } else if (exchange_.ids_travel()) {
    slots.ids = stream.ids.data() + chunk.first_slot;
  }
  slots.bits = exchange_.encoding() == plan::Encoding::bit;
  slots.first_bit = first_bit;
  const auto end = exchange_.place_of(stream, chunk.chunk.end_slot);
  const std::size_t bytes = end.byte + (end.bit == 0 ? 0 : 1) - at;
  const std::size_t remote = exchange_.remote_slots_of(stream, iteration) + at;
  auto& link = exchange_.link();
  if (slots.data = link.remote_ptr(peer, remote); slots.data != nullptr) {
    fill(slots);
    link.stored(lane, peer, bytes);
  } else {
    const auto number = static_cast<std::size_t>(&chunk - exchange_.lane_chunks(lane).data());
    auto source = near_memory(lane, remote, bytes);
    const bool near = !source.empty();
    if (!near) {
      if (!exchange_.wait_completed(lane, peer, sent_[lane][number])) return false;
      source = exchange_.send_memory().subspan(stream.send_offset + at, bytes);
    }
    slots.data = source.data();
    slots.ids_are_there = !near && sent_[lane][number] != 0;
    fill(slots);
    if (!exchange_.write(lane, peer, remote, source)) return false;
    const std::uint64_t sent = exchange_.writes(lane, peer);
    if (near)
      near_[lane] = {peer, sent};
    else
      sent_[lane][number] = sent;
  }
  const std::uint64_t before = (iteration - 1) * exchange_.chunks_to(peer, chunk.chunk.lane);
  return exchange_.signal(lane, peer, kFirstLaneKind + lane, before + chunk.chunk.ordinal + 1);
}

bool Outbox::publish_partial_sums(const OutgoingChunk& chunk, const std::byte* accumulators,
                                  std::uint64_t iteration) noexcept {
  return send(chunk, iteration,
              [&](const OutgoingSlots& slots) { loops_.fill_partial_sums(slots, accumulators); });
}

bool Outbox::publish_messages(const OutgoingChunk& chunk, std::uint64_t iteration) noexcept {
  const OutgoingStream& stream = exchange_.outgoing()[chunk.stream];
  const double* weights = stream.weights.empty() ? nullptr : stream.weights.data() + chunk.first_slot;
  return send(chunk, iteration, [&](const OutgoingSlots& slots) {
    loops_.fill_messages(slots, stream.indexes.data() + chunk.first_slot, weights);
  });
}

bool Outbox::publish_totals(const PackedTotals& totals, std::uint64_t iteration) noexcept {
  // Two cells are enough: every peer has taken the scalars before the last ones (it has sent those of the
  // last iteration since).
  const auto memory = exchange_.send_memory();
  const auto cell =
      memory.subspan(memory.size() - (2 - iteration % 2) * Exchange::kScalarsBytes, loops_.totals_bytes());
  std::memcpy(cell.data(), totals.data(), cell.size());
  for (int p = 0; p < exchange_.size(); ++p) {
    if (p == exchange_.rank()) continue;
    if (!exchange_.write(0, p, exchange_.remote_scalars_offset(p, iteration), cell) ||
        !exchange_.signal(0, p, kScalarsKind, iteration + 1)) {
      return false;
    }
  }
  return true;
}

}  // namespace edgewire::exchange
