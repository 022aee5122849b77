// The result of an iteration: the totals of a program, and what the iteration took.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#pragma GCC visibility push(default)

namespace edgewire::detail {

/// The sums of a program over all vertices, which it needs in the next iteration: a struct of at most so many
/// doubles, and zeros behind them.
using PackedTotals = std::array<double, 8>;
template <class T>
T totals_as(const PackedTotals& totals) noexcept {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(PackedTotals) &&
                sizeof(T) % sizeof(double) == 0);
  T value;
  std::memcpy(static_cast<void*>(&value), totals.data(), sizeof(T));
  return value;
}
template <class T>
PackedTotals totals_of(const T& value) noexcept {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(PackedTotals) &&
                sizeof(T) % sizeof(double) == 0);
  PackedTotals totals{};
  std::memcpy(totals.data(), &value, sizeof(T));
  return totals;
}

}  // namespace edgewire::detail

namespace edgewire {

/// Says how long an iteration took in this process, and what the process sent in it.
struct IterationRecord {
  double seconds = 0;
  std::uint64_t payload_bytes = 0;  ///< values of vertices only
  std::uint64_t wire_bytes = 0;     ///< with all headers, scalars and signals
};

}  // namespace edgewire

#pragma GCC visibility pop
