// Messages about vertices between their owner and the processes that know them, in an order that both know.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "frontier/boundary.h"
#include "frontier/frontier_job.h"

namespace edgewire::frontier {

/// Exchanges lists of values, which are no wider than an id, one to each peer; both sides know their lengths.
/// Two values are a record. Each lane calls it, and sends its part of all lists; the call ends the superstep.
/// Calls value(peer, index) for values to send, and take(peer, index, value) for arriving ones. `lengths`:
/// length(peer) of the lists that are sent, and of those that arrive. Throws Error where peers differ.
template <class SentLength, class TakenLength, class Value, class Take>
void exchange_lists(Job& job, int lane, const SentLength& sent_length, const TakenLength& taken_length,
                    const Value& value, const Take& take_value) {
  using Taken = std::remove_cvref_t<decltype(value(std::uint32_t{}, std::uint64_t{}))>;
  const auto size = static_cast<std::uint32_t>(job.bootstrap().size());
  const auto part_of = [&](std::uint64_t length) { return job.pool().part(lane, (length + 1) / 2); };
  std::vector<std::uint64_t> next(size), ends(size);  // next record, and the end, by peer
  for (std::uint32_t peer = 0; peer < size; ++peer) {
    if (peer == job.rank()) continue;
    const auto part = part_of(taken_length(peer));
    next[peer] = part.first;
    ends[peer] = part.last;
  }
  const auto take = [&](int from, Record record) {
    const auto peer = static_cast<std::uint32_t>(from);
    if (next[peer] == ends[peer]) throw Error("a process has sent more values than its peer has asked for");
    const std::uint64_t index = 2 * next[peer]++;
    take_value(peer, index, static_cast<Taken>(record.vertex));
    if (index + 1 < taken_length(peer)) take_value(peer, index + 1, static_cast<Taken>(record.value));
  };
  for (std::uint32_t turn = 1; turn < size; ++turn) {
    const std::uint32_t peer = (job.rank() + turn) % size;
    const std::uint64_t length = sent_length(peer);
    const auto part = part_of(length);
    for (std::uint64_t i = 2 * part.first; i < 2 * part.last; i += 2)
      job.records().send(lane, static_cast<int>(peer),
                         Record{value(peer, i), i + 1 < length ? value(peer, i + 1) : 0}, take);
  }
  job.records().finish(lane, take);
  if (next != ends) throw Error("a process has sent fewer values than its peer has asked for");
}

/// The number of bits in a value of exchange_lists().
inline constexpr std::uint32_t kBitsAValue = 32;
inline std::uint64_t values_of_bits(std::uint64_t bits) noexcept {
  return (bits + kBitsAValue - 1) / kBitsAValue;
}
/// Returns the value with this index of a list of `bits` bits: bit(i) is bit i of the list.
template <class Bit>
std::uint32_t value_of_bits(std::uint64_t index, std::uint64_t bits, const Bit& bit) {
  const std::uint64_t first = index * kBitsAValue;
  std::uint32_t value = 0;
  for (std::uint64_t i = first; i < std::min(bits, first + kBitsAValue); ++i)
    value |= std::uint32_t{bit(i)} << (i - first);
  return value;
}

/// Tells a bit of each vertex, bit(local), from its owner to the processes that know it, in the order that
/// both know. Each lane calls it. Calls take(number, bits) for boundary vertices: bit i belongs to the vertex
/// number + i. It ends the superstep, and throws Error. `tells`: whether a process does.
template <class Bit, class Take, class Tells = bool (*)(std::uint32_t)>
void exchange_known_bits(
    Job& job, int lane, const Bit& bit, const Take& take,
    const Tells& tells = [](std::uint32_t) { return true; }) {
  const Boundary& boundary = job.boundary();
  exchange_lists(
      job, lane,
      [&](std::uint32_t peer) {
        return tells(job.rank()) ? values_of_bits(boundary.known_by(peer).size()) : 0;
      },
      [&](std::uint32_t peer) { return tells(peer) ? values_of_bits(boundary.count(peer)) : 0; },
      [&](std::uint32_t peer, std::uint64_t index) {
        const auto vertices = boundary.known_by(peer);
        return value_of_bits(index, vertices.size(), [&](std::uint64_t i) { return bit(vertices[i]); });
      },
      [&](std::uint32_t peer, std::uint64_t index, std::uint32_t bits) {
        const std::uint64_t first = index * kBitsAValue, count = boundary.count(peer) - first;
        if (count < kBitsAValue && bits >> count != 0)
          throw Error("a process has sent bits of vertices that do not exist");
        take(boundary.first(peer) + static_cast<std::uint32_t>(first), bits);
      });
}

}  // namespace edgewire::frontier
