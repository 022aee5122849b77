// Loops over numbers, 16 at a time, for processors with AVX-512.
#pragma once

#include "topology/cpu_level.h"

#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // undefined lanes (GCC bug 105593)
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <cstdint>
#include <span>

/// For functions that are only called if has_lanes().
#define EDGEWIRE_WIDE __attribute__((target("arch=x86-64-v4")))
#endif

namespace edgewire::plan {

#if defined(__x86_64__)

inline bool has_lanes() { return topology::cpu_level() >= topology::CpuLevel::v4; }

/// Calls work(lanes, numbers) for 16 numbers at a time; `lanes`: a mask of the lanes that hold a number.
template <class Work>
EDGEWIRE_WIDE inline void for_each_lanes(std::span<const std::uint32_t> numbers, Work& work) {
  for (std::size_t i = 0; i < numbers.size(); i += 16) {
    const auto lanes = static_cast<__mmask16>(0xFFFF >> (16 - std::min<std::size_t>(16, numbers.size() - i)));
    work(lanes, _mm512_maskz_loadu_epi32(lanes, numbers.data() + i));
  }
}

#else

inline bool has_lanes() { return false; }

#endif

}  // namespace edgewire::plan
