#include "exchange/inbox.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

namespace edgewire::exchange {

template <class Message>
Inbox<Message>::Inbox(Exchange& exchange, std::span<const std::uint32_t> blocks,
                      std::span<const std::uint32_t> indexes, const Codec& codec)
    : exchange_(exchange),
      codec_(codec),
      decoded_(!plan::is_rounded(exchange.encoding()) ? 0 : static_cast<std::size_t>(exchange.size())),
      blocks_(blocks.begin(), blocks.end()),
      indexes_(indexes),
      sources_(blocks.size() - 1),
      needed_(blocks.size() - 1) {
  for (std::uint32_t s = 0; s < exchange.incoming().size(); ++s) {
    const IncomingStream& stream = exchange.incoming()[s];
    const auto& targets = stream.targets;
    if (stream.mirrors) {
      if (!decoded_.empty()) decoded_[static_cast<std::size_t>(stream.peer)].values.resize(targets.size());
      for (std::size_t b = 0; b + 1 < blocks_.size(); ++b) {
        for (const auto& chunk : stream.chunks) need(b, stream.peer, chunk);
      }
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
      for (std::uint32_t first = slot; first < end; first = chunk++->end_slot) need(b, stream.peer, *chunk);
      slot = end;
    }
  }
}

template <class Message>
void Inbox<Message>::need(std::size_t block, int peer, const Chunk& chunk) {
  auto& needed = needed_[block];
  auto same = std::find_if(needed.begin(), needed.end(),
                           [&](const Needed& n) { return n.peer == peer && n.lane == chunk.lane; });
  if (same == needed.end()) same = needed.insert(same, {peer, chunk.lane, 0});
  same->chunks = std::max(same->chunks, chunk.ordinal + 1);
}

template <class Message>
const Message* Inbox<Message>::mirrors(int peer, std::uint64_t iteration) noexcept {
  const auto p = static_cast<std::size_t>(peer);
  const std::size_t streams = exchange_.incoming().size() / static_cast<std::size_t>(exchange_.size());
  const IncomingStream& stream = exchange_.incoming()[(p + 1) * streams - 1];
  if (!stream.mirrors || stream.targets.empty()) return nullptr;
  const std::byte* inbox =
      exchange_.region().data() + stream.offset + exchange_.parity_shift_from(peer, iteration);
  if (decoded_.empty()) return reinterpret_cast<const Message*>(inbox);
  auto& [values, state] = decoded_[p];
  std::uint64_t last = 2 * (iteration - 1);
  if (state.compare_exchange_strong(last, 2 * iteration - 1)) {
    const auto* codes = reinterpret_cast<const std::uint16_t*>(inbox);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = codec_.decode(codes[i]);
    state.store(2 * iteration, std::memory_order_release);
  } else {
    while (state.load(std::memory_order_acquire) != 2 * iteration) std::this_thread::yield();
  }
  return values.data();
}

template <class Message>
bool Inbox<Message>::arrived(const Needed& needed, std::uint64_t iteration) const noexcept {
  const std::uint64_t before = (iteration - 1) * exchange_.chunks_from(needed.peer, needed.lane);
  return exchange_.link().signalled(needed.peer, kFirstLaneKind + static_cast<int>(needed.lane)) >=
         before + needed.chunks;
}

template <class Message>
bool Inbox<Message>::ready(std::size_t block, std::uint64_t iteration) const noexcept {
  return std::all_of(needed_[block].begin(), needed_[block].end(),
                     [&](const Needed& needed) { return arrived(needed, iteration); });
}

template <class Message>
int Inbox<Message>::awaited(std::size_t block, std::uint64_t iteration) const noexcept {
  for (const Needed& needed : needed_[block]) {
    if (!arrived(needed, iteration)) return needed.peer;
  }
  return awaited_scalars(iteration - 1);
}

template <class Message>
int Inbox<Message>::awaited_scalars(std::uint64_t iteration) const noexcept {
  for (int p = 0; p < exchange_.size(); ++p) {
    if (p != exchange_.rank() && exchange_.link().signalled(p, kScalarsKind) < iteration + 1) return p;
  }
  return -1;
}

template <class Message>
void Inbox<Message>::add(std::size_t block, std::uint64_t iteration, std::span<double> sums) const noexcept {
  const std::uint32_t begin = blocks_[block];
  for (const Source& source : sources_[block]) {
    const IncomingStream& stream = exchange_.incoming()[source.stream];
    const std::byte* inbox =
        exchange_.region().data() + stream.offset + exchange_.parity_shift_from(stream.peer, iteration);
    const std::uint32_t* targets = stream.targets.data();
    if (!decoded_.empty()) {
      const auto* codes = reinterpret_cast<const std::uint16_t*>(inbox);
      for (std::uint32_t s = source.first_slot; s < source.end_slot; ++s) {
        sums[targets[s] - begin] += codec_.decode(codes[s]);
      }
      continue;
    }
    if (!exchange_.ids_travel()) {
      const auto* values = reinterpret_cast<const Message*>(inbox);
      for (std::uint32_t s = source.first_slot; s < source.end_slot; ++s)
        sums[targets[s] - begin] += values[s];
      continue;
    }
    const auto* pairs = reinterpret_cast<const IdValue<Message>*>(inbox);
    if (!add_pairs({pairs + source.first_slot, pairs + source.end_slot}, stream.peer, begin, sums)) return;
  }
}

/// Values of a vertex follow each other (plan::order_arrivals): four of them at a time have one look-up, and
/// sums of their own that do not wait for each other.
template <class Message>
bool Inbox<Message>::add_pairs(std::span<const IdValue<Message>> pairs, int peer, std::uint32_t begin,
                               std::span<double> sums) const noexcept {
  constexpr std::size_t kAhead = 512;  // 4 KiB: the processor by itself asks for less
  constexpr std::size_t kLookUpAhead = 320;
  const auto looked_up_next = [&](std::size_t s) {
    const std::uint32_t id = pairs[std::min(s + kLookUpAhead, pairs.size() - 1)].id;
    return &indexes_[std::min<std::size_t>(id, indexes_.size() - 1)];
  };
  for (std::size_t s = 0; s < pairs.size();) {
    const std::uint32_t id = pairs[s].id;
    const std::uint32_t index = id < indexes_.size() ? indexes_[id] : ~std::uint32_t{0};
    if (index - begin >= sums.size()) {
      exchange_.health().fail(
          peer, fmt::format("rank {} sent a value for vertex {}, which is not in the plan", peer, id));
      return false;
    }
    double& sum = sums[index - begin];
    const auto four_more = [&] {
      return pairs.size() - s >= 4 && ((pairs[s].id ^ id) | (pairs[s + 1].id ^ id) | (pairs[s + 2].id ^ id) |
                                       (pairs[s + 3].id ^ id)) == 0;
    };
    if (!four_more()) {
      __builtin_prefetch(looked_up_next(s));
      sum += pairs[s++].value;
      continue;
    }
    std::array<double, 4> parts{};
    do {
      __builtin_prefetch(pairs.data() + std::min(s + kAhead, pairs.size()));
      __builtin_prefetch(looked_up_next(s));
      for (std::size_t i = 0; i < 4; ++i) parts[i] += pairs[s + i].value;
      s += 4;
    } while (four_more());
    sum += (parts[0] + parts[2]) + (parts[1] + parts[3]);
  }
  return true;
}

template <class Message>
bool Inbox<Message>::scalars(std::uint64_t iteration, const Scalars& mine, Scalars& total) const noexcept {
  if (awaited_scalars(iteration) >= 0) return false;
  total = {};
  for (int p = 0; p < exchange_.size(); ++p) {
    Scalars one = mine;
    if (p != exchange_.rank()) {
      std::memcpy(one.data(), exchange_.region().data() + exchange_.scalars_offset(p, iteration),
                  sizeof(Scalars));
    }
    for (std::size_t i = 0; i < one.size(); ++i) total[i] += one[i];
  }
  return true;
}

template class Inbox<float>;
template class Inbox<double>;

}  // namespace edgewire::exchange
