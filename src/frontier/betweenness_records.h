// How numbers of paths travel: a double in a record, a Scaled in two, one behind the other. Part of
// betweenness_levels.cpp.
#pragma once

#include <bit>
#include <type_traits>
#include <utility>

#include "frontier/betweenness_levels.h"

namespace edgewire::frontier {

/// Calls work(owner, index, number) for the boundary vertices of a lane, in their order: index is that of
/// Boundary::known_by() at the owner.
template <class Number>
template <class Work>
void BetweennessLevels<Number>::for_each_boundary(int lane, const Work& work) const {
  const Boundary& boundary = job_.boundary();
  const auto size = static_cast<std::uint32_t>(job_.bootstrap().size());
  for (std::uint32_t turn = 1; turn < size; ++turn) {
    const std::uint32_t owner = (job_.rank() + turn) % size;
    const auto [first, last] = job_.pool().part(lane, boundary.count(owner));
    for (auto i = static_cast<std::uint32_t>(first); i < last; ++i)
      work(static_cast<int>(owner), i, KnownNumber(boundary.first(owner) + i));
  }
}

/// Returns a function that reads records, and calls take(peer, index, number) for each number in them.
template <class Number>
template <class Take>
auto BetweennessLevels<Number>::numbers(int lane, const Take& take) {
  if constexpr (std::is_same_v<Number, double>) {
    return [&take](int peer, const WideRecord& record) { take(peer, record.vertex, record.number()); };
  } else {
    return [&take, &halves = workers_[static_cast<std::size_t>(lane)].halves](int peer,
                                                                              const WideRecord& record) {
      double& half = halves[static_cast<std::size_t>(peer)];
      if (half == 0) {
        half = record.number();
        return;
      }
      Number number;
      number.mantissa = std::exchange(half, 0);
      number.exponent = std::bit_cast<std::int64_t>(record.value);
      take(peer, record.vertex, number);
    };
  }
}

/// A number that is not 0.
template <class Number>
template <class Take>
void BetweennessLevels<Number>::send_to_owner(int lane, KnownNumber v, const Number& number,
                                              const Take& take) {
  const std::uint32_t owner = job_.boundary().place(v).owner;
  send(lane, static_cast<int>(owner), v - job_.boundary().first(owner), number, take);
}

template <class Number>
template <class Take>
void BetweennessLevels<Number>::send(int lane, int peer, std::uint32_t index, const Number& number,
                                     const Take& take) {
  const auto take_records = numbers(lane, take);
  if constexpr (std::is_same_v<Number, double>) {
    job_.records().send(lane, peer, WideRecord(index, number), take_records);
  } else {
    job_.records().send(lane, peer, WideRecord(index, number.mantissa), take_records);
    job_.records().send(lane, peer, WideRecord(index, std::bit_cast<double>(number.exponent)), take_records);
  }
}

template <class Number>
template <class Take>
void BetweennessLevels<Number>::finish(int lane, const Take& take) {
  job_.records().template finish<WideRecord>(lane, numbers(lane, take));
}

}  // namespace edgewire::frontier
