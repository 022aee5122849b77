// This file says how numbers of paths travel between processes.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "frontier/frontier_job.h"
#include "kernels/scaled.h"

namespace edgewire::kernels {

/// Sends numbers, each with the index of a vertex. A double is in a record; a Scaled is in two, its mantissa,
/// which is not 0, and behind it the exponent.
template <class Number>
class NumberRecords {
 public:
  /// `job` outlives it, and has WideRecords.
  explicit NumberRecords(frontier::Job& job)
      : job_(job),
        mantissas_(static_cast<std::size_t>(job.pool().workers()),
                   std::vector<double>(static_cast<std::size_t>(job.bootstrap().size()))) {}

  /// Sends a number that is not 0, as Records::send() does. Numbers that arrive go to take(peer, index,
  /// number).
  template <class Take>
  void send(int lane, int peer, std::uint32_t index, const Number& number, const Take& take) {
    if constexpr (std::is_same_v<Number, double>) {
      job_.records().send(lane, peer, frontier::WideRecord(index, number), reader(lane, take));
    } else {
      job_.records().send(lane, peer, frontier::WideRecord(index, number.mantissa), reader(lane, take));
      job_.records().send(lane, peer, frontier::WideRecord(index, number.exponent), reader(lane, take));
    }
  }
  /// Ends the superstep of this lane, as Records::finish() does.
  template <class Take>
  void finish(int lane, const Take& take) {
    job_.records().template finish<frontier::WideRecord>(lane, reader(lane, take));
  }

 private:
  /// Returns a function that reads records, and calls take(peer, index, number) for each number in them.
  template <class Take>
  auto reader(int lane, const Take& take) {
    return [&take, &mantissas = mantissas_[static_cast<std::size_t>(lane)]](
               int peer, const frontier::WideRecord& record) {
      if constexpr (std::is_same_v<Number, double>) {
        take(peer, record.vertex, record.number());
      } else if (double& mantissa = mantissas[static_cast<std::size_t>(peer)]; mantissa == 0) {
        mantissa = record.number();
      } else {
        Number number;
        number.mantissa = std::exchange(mantissa, 0);
        number.exponent = std::bit_cast<std::int64_t>(record.value);
        take(peer, record.vertex, number);
      }
    };
  }

  frontier::Job& job_;
  std::vector<std::vector<double>> mantissas_;  ///< [lane][peer]: the mantissa whose exponent follows; or 0
};

}  // namespace edgewire::kernels
