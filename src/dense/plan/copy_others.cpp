#include "dense/plan/copy_others.h"

#include <bit>

#include "dense/plan/wide.h"

namespace edgewire::plan {

namespace {

#if defined(__x86_64__)

struct CopyOthers {
  const std::uint64_t* words;
  std::uint32_t* out;
  EDGEWIRE_WIDE void operator()(__mmask16 lanes, __m512i numbers) {
    const __m512i halves =
        _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), lanes, _mm512_srli_epi32(numbers, 5), words, 4);
    const __m512i bit =
        _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(numbers, _mm512_set1_epi32(31)));
    const __mmask16 others = _mm512_mask_testn_epi32_mask(lanes, halves, bit);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(others, numbers));
    out += std::popcount(others);
  }
};

EDGEWIRE_WIDE std::uint32_t* copy_wide(std::span<const std::uint64_t> words,
                                       std::span<const std::uint32_t> numbers, std::uint32_t* out) {
  CopyOthers copy{words.data(), out};
  for_each_lanes(numbers, copy);
  return copy.out;
}

#else

std::uint32_t* copy_wide(std::span<const std::uint64_t>, std::span<const std::uint32_t>, std::uint32_t* out) {
  return out;
}

#endif

}  // namespace

std::uint32_t* copy_others(const Bits& left_out, std::span<const std::uint32_t> numbers,
                           std::uint32_t* out) noexcept {
  if (has_lanes()) return copy_wide(left_out.all_words(), numbers, out);
  for (const auto number : numbers) {  // no branch depends on the number
    *out = number;
    out += left_out.test(number) ? 0 : 1;
  }
  return out;
}

}  // namespace edgewire::plan
