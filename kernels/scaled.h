// Numbers far beyond the range of doubles: a grid has more than 1e300 shortest paths.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <sched.h>

namespace edgewire::kernels {

/// A number mantissa * 2^exponent, at least 0. Operations round as with doubles, never to 0 or infinity.
struct Scaled {
  double mantissa = 0;        ///< number from 1 to below 2; or 0
  std::int64_t exponent = 0;  ///< any number where the mantissa is 0

  Scaled() = default;
  /// Makes one of a finite number that is not negative.
  explicit Scaled(double number) {
    int power = 0;
    const double part = std::frexp(number, &power);
    *this = from(part, power);
  }
  /// Makes `mantissa` * 2^`exponent`, where the mantissa is 0, or neither tiny nor huge.
  static Scaled from(double mantissa, std::int64_t exponent) noexcept {
    Scaled number;
    if (mantissa == 0) return number;
    constexpr std::uint64_t kOne = std::uint64_t{kBias} << kMantissaBits;
    constexpr std::uint64_t kMantissa = (std::uint64_t{1} << kMantissaBits) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(mantissa);
    number.mantissa = std::bit_cast<double>((bits & kMantissa) | kOne);
    number.exponent = exponent + static_cast<std::int64_t>(bits >> kMantissaBits) - kBias;
    return number;
  }
  /// Returns the nearest double; infinity if it is too large.
  explicit operator double() const noexcept {
    constexpr std::int64_t kFar = 4096;  // exponent beyond all doubles
    return std::ldexp(mantissa, static_cast<int>(std::min(std::max(exponent, -kFar), kFar)));
  }

  friend Scaled operator+(const Scaled& a, const Scaled& b) noexcept {
    if (a.mantissa == 0) return b;
    if (b.mantissa == 0) return a;
    const Scaled& more = a.exponent < b.exponent ? b : a;
    const Scaled& less = a.exponent < b.exponent ? a : b;
    const std::int64_t apart = more.exponent - less.exponent;
    if (apart > kMantissaBits + 2) return more;  // `less` is below half of the last bit
    const double shift = std::bit_cast<double>(static_cast<std::uint64_t>(kBias - apart) << kMantissaBits);
    return from(more.mantissa + less.mantissa * shift, more.exponent);
  }
  Scaled& operator+=(const Scaled& more) noexcept { return *this = *this + more; }
  friend Scaled operator*(const Scaled& a, const Scaled& b) noexcept {
    return from(a.mantissa * b.mantissa, a.exponent + b.exponent);
  }
  /// Divides; `b` is not 0.
  friend Scaled operator/(const Scaled& a, const Scaled& b) noexcept {
    return from(a.mantissa / b.mantissa, a.exponent - b.exponent);
  }
  friend bool is_zero(const Scaled& a) noexcept { return a.mantissa == 0; }

 private:
  static constexpr int kMantissaBits = 52;
  static constexpr std::int64_t kBias = 1023;
};

inline bool is_zero(double number) noexcept { return number == 0; }

/// Returns whether 1 / paths would lose digits.
inline bool is_too_many(double paths) noexcept { return paths > 1e300; }
inline bool is_too_many(const Scaled&) noexcept { return false; }

/// Adds to a sum that several workers share, and returns what it was before.
inline double add_shared(double& sum, double more) noexcept {
  return std::atomic_ref(sum).fetch_add(more, std::memory_order_relaxed);
}
/// Adds in the same way. A worker that adds holds the exponent meanwhile, and others wait.
inline Scaled add_shared(Scaled& sum, const Scaled& more) noexcept {
  constexpr std::int64_t kHeld = std::numeric_limits<std::int64_t>::min();
  const std::atomic_ref<std::int64_t> exponent(sum.exponent);
  Scaled before;
  while ((before.exponent = exponent.exchange(kHeld, std::memory_order_acquire)) == kHeld) sched_yield();
  before.mantissa = sum.mantissa;
  const Scaled after = before + more;
  sum.mantissa = after.mantissa;
  exponent.store(after.exponent, std::memory_order_release);
  return before;
}

}  // namespace edgewire::kernels
