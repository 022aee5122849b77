#include "dense/exchange/inbox.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <thread>

namespace edgewire::exchange {

Inbox::Inbox(Exchange& exchange, SlotLoops& loops, std::span<const std::uint32_t> blocks,
             NumberedBy<LocalNumber, std::span<const OwnedIndex>> indexes, const Codec& codec)
    : exchange_(exchange),
      loops_(loops),
      codec_(codec),
      decoded_(!plan::needs_slots(exchange.encoding()) ? 0 : static_cast<std::size_t>(exchange.size())),
      blocks_(blocks.begin(), blocks.end()),
      indexes_(indexes),
      sources_(blocks.size() - 1),
      needed_(blocks.size() - 1),
      needed_mirrors_(static_cast<std::size_t>(exchange.size())) {
  for (std::uint32_t s = 0; s < exchange.incoming().size(); ++s) {
    const IncomingStream& stream = exchange.incoming()[s];
    const auto& targets = stream.targets;
    if (stream.mirrors) {
      const auto p = static_cast<std::size_t>(stream.peer);
      if (!decoded_.empty()) decoded_[p].values.resize(stream.slots() * loops.message_bytes());
      for (const auto& chunk : stream.chunks) need(needed_mirrors_[p], stream.peer, chunk);
      continue;
    }
    std::uint32_t slot = 0;
    for (std::size_t b = 0; b + 1 < blocks_.size() && slot < targets.size(); ++b) {
      const auto end = static_cast<std::uint32_t>(
          std::lower_bound(targets.begin() + slot, targets.end(), blocks_[b + 1]) - targets.begin());
      if (end == slot) continue;
      sources_[b].push_back({s, slot, end});
      auto chunk = std::upper_bound(stream.chunks.begin(), stream.chunks.end(), slot,
                                    [](std::uint32_t first, const Chunk& c) { return first < c.end_slot; });
      for (std::uint32_t first = slot; first < end; first = chunk++->end_slot)
        need(needed_[b], stream.peer, *chunk);
      slot = end;
    }
  }
}

void Inbox::take_powers() {
  if (!plan::is_rounded(exchange_.encoding())) return;
  exchange_.wait_until([this] { return awaited_scalars(0) < 0; });
  for (const IncomingStream& stream : exchange_.incoming()) {
    if (!stream.mirrors || stream.slots() == 0 || stream.peer == exchange_.rank()) continue;
    std::vector<std::int16_t> powers(stream.slots());
    std::memcpy(powers.data(), exchange_.slots_of(stream, 0), powers.size() * sizeof powers[0]);
    if (std::ranges::all_of(powers, [](std::int16_t power) { return power == 0; })) continue;
    auto& scales = decoded_[stream.peer].scales;
    for (const std::int16_t power : powers) scales.push_back(std::ldexp(1.0F, -power));
  }
}

void Inbox::need(std::vector<Needed>& needed, int peer, const Chunk& chunk) {
  auto same = std::find_if(needed.begin(), needed.end(),
                           [&](const Needed& n) { return n.peer == peer && n.lane == chunk.lane; });
  if (same == needed.end()) same = needed.insert(same, {peer, chunk.lane, 0});
  same->chunks = std::max(same->chunks, chunk.ordinal + 1);
}

const std::byte* Inbox::mirrors(int peer, std::uint64_t iteration) noexcept {
  const std::size_t streams = exchange_.incoming().size() / static_cast<std::size_t>(exchange_.size());
  const IncomingStream& stream = exchange_.incoming()[(peer + 1) * streams - 1];  // the peer's last one
  const std::byte* const inbox = exchange_.slots_of(stream, iteration);
  if (decoded_.empty()) return inbox;
  auto& [values, scales, state] = decoded_[peer];
  std::uint64_t last = 2 * (iteration - 1);
  if (state.compare_exchange_strong(last, 2 * iteration - 1)) {
    if (exchange_.encoding() == plan::Encoding::bit)
      loops_.decode_bits(inbox, stream.slots(), values.data());
    else
      loops_.decode(codec_, {reinterpret_cast<const std::uint16_t*>(inbox), stream.slots()}, scales,
                    values.data());
    state.store(2 * iteration, std::memory_order_release);
  } else {
    while (state.load(std::memory_order_acquire) != 2 * iteration) std::this_thread::yield();
  }
  return values.data();
}

bool Inbox::arrived(const Needed& needed, std::uint64_t iteration) const noexcept {
  const std::uint64_t before = (iteration - 1) * exchange_.chunks_from(needed.peer, needed.lane);
  return exchange_.link().signalled(needed.peer, kFirstLaneKind + static_cast<int>(needed.lane)) >=
         before + needed.chunks;
}

int Inbox::awaited(std::size_t block, std::uint64_t iteration) const noexcept {
  for (const Needed& needed : needed_[block]) {
    if (!arrived(needed, iteration)) return needed.peer;
  }
  return -1;
}

int Inbox::awaited_mirrors(std::span<const int> peers, std::uint64_t iteration) const noexcept {
  for (const int peer : peers) {
    for (const Needed& needed : needed_mirrors_[peer])
      if (!arrived(needed, iteration)) return peer;
  }
  return -1;
}

int Inbox::awaited_scalars(std::uint64_t iteration) const noexcept {
  for (int p = 0; p < exchange_.size(); ++p) {
    if (p != exchange_.rank() && exchange_.link().signalled(p, kScalarsKind) < iteration + 1) return p;
  }
  return -1;
}

void Inbox::add(std::size_t block, std::uint64_t iteration, std::byte* accumulators) const noexcept {
  const OwnedIndex begin(blocks_[block]);
  for (const Source& source : sources_[block]) {
    const IncomingStream& stream = exchange_.incoming()[source.stream];
    const auto place = exchange_.place_of(stream, source.first_slot);
    const std::byte* data = exchange_.slots_of(stream, iteration) + place.byte;
    const std::size_t count = source.end_slot - source.first_slot;
    if (!exchange_.ids_travel()) {
      const bool bits = exchange_.encoding() == plan::Encoding::bit;
      loops_.add_slots({data, std::span<const OwnedIndex>(stream.targets).subspan(source.first_slot, count),
                        begin, decoded_.empty() || bits ? nullptr : &codec_, bits, place.bit},
                       accumulators);
      continue;
    }
    const std::uint64_t wrong =
        loops_.add_pairs({data, count, indexes_, begin, blocks_[block + 1] - begin}, accumulators);
    if (wrong != SlotLoops::kNoId) {
      exchange_.health().fail(
          stream.peer,
          fmt::format("rank {} sent a value for vertex {}, which is not in the plan", stream.peer, wrong));
      return;
    }
  }
}

PackedTotals Inbox::totals(int peer, std::uint64_t iteration) const noexcept {
  PackedTotals totals{};
  std::memcpy(totals.data(), exchange_.region().data() + exchange_.scalars_offset(peer, iteration),
              loops_.totals_bytes());
  return totals;
}

}  // namespace edgewire::exchange
