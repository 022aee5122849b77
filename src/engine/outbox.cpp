#include "engine/outbox.h"

#include <cstring>

namespace edgewire::engine {

Outbox::Outbox(Exchange& exchange, const Codec& codec) : exchange_(exchange), codec_(codec) {
  for (int lane = 0; lane < exchange.lanes(); ++lane) sent_.emplace_back(exchange.lane_chunks(lane).size());
  if (exchange.encoding() == plan::Encoding::f32) return;
  for (const auto& stream : exchange.outgoing()) residuals_.emplace_back(stream.slots);
}

void Outbox::fill(std::size_t stream, std::uint32_t first_slot, std::span<const double> sums,
                  std::byte* slots) noexcept {
  if (!residuals_.empty()) {
    auto* codes = reinterpret_cast<std::uint16_t*>(slots);
    float* residuals = residuals_[stream].data() + first_slot;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      codes[i] = codec_.encode(static_cast<float>(sums[i]), residuals[i]);
    }
    return;
  }
  if (!exchange_.ids_travel()) {
    auto* values = reinterpret_cast<float*>(slots);
    for (std::size_t i = 0; i < sums.size(); ++i) values[i] = static_cast<float>(sums[i]);
    return;
  }
  struct Pair {
    std::uint32_t id;
    float value;
  };
  auto* pairs = reinterpret_cast<Pair*>(slots);
  const std::uint32_t* ids = exchange_.outgoing()[stream].ids.data() + first_slot;
  for (std::size_t i = 0; i < sums.size(); ++i) pairs[i] = {ids[i], static_cast<float>(sums[i])};
}

/// fill(address) writes the values of the chunk where they go.
template <class Fill>
bool Outbox::send(const OutgoingChunk& chunk, std::size_t values, std::uint64_t iteration,
                  const Fill& fill) noexcept {
  const OutgoingStream& stream = exchange_.outgoing()[chunk.stream];
  const int peer = stream.peer;
  const auto lane = static_cast<int>(chunk.chunk.lane);
  const std::size_t at = chunk.first_slot * exchange_.value_bytes();
  const std::size_t bytes = values * exchange_.value_bytes();
  const std::size_t remote = stream.remote_offset + exchange_.parity_shift_to(peer, iteration) + at;
  auto& link = exchange_.link();
  if (std::byte* slots = link.remote_ptr(peer, remote); slots != nullptr) {
    fill(slots);
    link.stored(lane, peer, bytes);
  } else {
    const auto number = static_cast<std::size_t>(&chunk - exchange_.lane_chunks(lane).data());
    if (!exchange_.wait_completed(lane, peer, sent_[lane][number])) return false;
    const auto source = exchange_.send_memory().subspan(stream.send_offset + at, bytes);
    fill(source.data());
    if (!exchange_.write(lane, peer, remote, source)) return false;
    sent_[lane][number] = exchange_.writes(lane, peer);
  }
  const std::uint64_t before = (iteration - 1) * exchange_.chunks_to(peer, chunk.chunk.lane);
  return exchange_.signal(lane, peer, kFirstLaneKind + lane, before + chunk.chunk.ordinal + 1);
}

bool Outbox::publish(const OutgoingChunk& chunk, std::span<const double> sums,
                     std::uint64_t iteration) noexcept {
  return send(chunk, sums.size(), iteration,
              [&](std::byte* slots) { fill(chunk.stream, chunk.first_slot, sums, slots); });
}

bool Outbox::publish_mirrors(const OutgoingChunk& chunk, std::span<const float> values,
                             std::uint64_t iteration) noexcept {
  const std::uint32_t* indexes = exchange_.outgoing()[chunk.stream].indexes.data() + chunk.first_slot;
  const std::uint32_t count = chunk.chunk.end_slot - chunk.first_slot;
  return send(chunk, count, iteration, [&](std::byte* slots) {
    if (!residuals_.empty()) {
      auto* codes = reinterpret_cast<std::uint16_t*>(slots);
      float* residuals = residuals_[chunk.stream].data() + chunk.first_slot;
      for (std::uint32_t i = 0; i < count; ++i) codes[i] = codec_.encode(values[indexes[i]], residuals[i]);
      return;
    }
    auto* mirrors = reinterpret_cast<float*>(slots);
    for (std::uint32_t i = 0; i < count; ++i) mirrors[i] = values[indexes[i]];
  });
}

bool Outbox::publish_scalars(const Scalars& scalars, std::uint64_t iteration) noexcept {
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

}  // namespace edgewire::engine
