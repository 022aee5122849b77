// How numbers of paths travel: a double in a record, a Scaled in two, one behind the other. Part of
// betweenness_levels.cpp.
#pragma once

#include <bit>
#include <type_traits>
#include <utility>

#include "frontier/betweenness_levels.h"

namespace edgewire::frontier {

/// Of records, what take(peer, vertex, number) is called for.
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
void BetweennessLevels<Number>::send(int lane, int peer, std::uint32_t v, const Number& number,
                                     const Take& take) {
  const auto take_records = numbers(lane, take);
  if constexpr (std::is_same_v<Number, double>) {
    job_.records().send(lane, peer, WideRecord(v, number), take_records);
  } else {
    job_.records().send(lane, peer, WideRecord(v, number.mantissa), take_records);
    job_.records().send(lane, peer, WideRecord(v, std::bit_cast<double>(number.exponent)), take_records);
  }
}

template <class Number>
template <class Take>
void BetweennessLevels<Number>::finish(int lane, const Take& take) {
  job_.records().template finish<WideRecord>(lane, numbers(lane, take));
}

}  // namespace edgewire::frontier
