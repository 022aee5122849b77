#include "plan/bits.h"

#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // undefined lanes (GCC bug 105593)
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace edgewire::plan {

namespace {

#if defined(__x86_64__)

/// 16 numbers at a time.
__attribute__((target("avx512f"))) std::uint32_t* copy_wide(std::span<const std::uint64_t> words,
                                                            std::span<const std::uint32_t> numbers,
                                                            std::uint32_t* out) {
  const __m512i place_bits = _mm512_set1_epi32(31);
  const __m512i one = _mm512_set1_epi32(1);
  for (std::size_t i = 0; i < numbers.size(); i += 16) {
    const auto lanes = static_cast<__mmask16>(0xFFFF >> (16 - std::min<std::size_t>(16, numbers.size() - i)));
    const __m512i some = _mm512_maskz_loadu_epi32(lanes, numbers.data() + i);
    const __m512i halves = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes,
                                                       _mm512_srli_epi32(some, 5), words.data(), 4);
    const __m512i bit = _mm512_sllv_epi32(one, _mm512_and_si512(some, place_bits));
    const __mmask16 others = _mm512_mask_testn_epi32_mask(lanes, halves, bit);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(others, some));
    out += std::popcount(others);
  }
  return out;
}

bool has_lanes() { return __builtin_cpu_supports("avx512f") != 0; }

#else

bool has_lanes() { return false; }
std::uint32_t* copy_wide(std::span<const std::uint64_t>, std::span<const std::uint32_t>, std::uint32_t* out) {
  return out;
}

#endif

}  // namespace

std::uint32_t* Bits::copy_others(std::span<const std::uint32_t> numbers, std::uint32_t* out) const noexcept {
  static const bool wide = has_lanes();
  if (wide) return copy_wide(words_, numbers, out);
  for (const auto number : numbers) {  // no branch depends on the number
    *out = number;
    out += test(number) ? 0 : 1;
  }
  return out;
}

}  // namespace edgewire::plan
