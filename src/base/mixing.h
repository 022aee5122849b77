#pragma once

#include <cstdint>

namespace edgewire {

/// 2^64 divided by the golden ratio: a factor, or a step, that spreads numbers which follow each other.
inline constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
/// The first factor of mix64().
inline constexpr std::uint64_t kMixFactor = 0xBF58476D1CE4E5B9;
/// The 32-bit counterpart of kGolden: 2^32 divided by the golden ratio.
inline constexpr std::uint32_t kGolden32 = 0x9E3779B1;

/// The finaliser of SplitMix64, a bijection (Steele, Lea, Flood: Fast Splittable PRNGs, 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * kMixFactor;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// Random numbers, not for secrets: the generator of that paper.
class SplitMix64 {
 public:
  constexpr explicit SplitMix64(std::uint64_t state) : state_(state) {}
  constexpr std::uint64_t next() { return mix64(state_ += kGolden); }

 private:
  std::uint64_t state_;
};

}  // namespace edgewire
