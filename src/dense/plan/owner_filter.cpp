#include "dense/plan/owner_filter.h"

#include <algorithm>
#include <bit>

#include "base/mixing.h"
#include "base/rooms.h"
#include "edgewire/detail/cpu_level.h"

#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // undefined lanes (GCC bug 105593)
#include <immintrin.h>
#pragma GCC diagnostic pop

/// The target of functions that are only called if has_lanes().
#define EDGEWIRE_WIDE __attribute__((target("arch=x86-64-v4")))
#endif

namespace edgewire::plan {

namespace {

constexpr int kMostPicked = 32;  // most processes to pick by: a bit of a lane for each
// Most processes to deal to: with more, handling one vertex after the other is faster.
constexpr int kMostDealt = 16;
constexpr std::uint64_t kMostVertices = std::uint64_t{1} << 31;

#if defined(__x86_64__)

bool has_lanes() { return topology::cpu_level() >= topology::CpuLevel::v4; }

/// Calls work(lanes, numbers) for 16 numbers at a time; `lanes`: a mask of the lanes that hold a number.
template <class Work>
EDGEWIRE_WIDE void for_each_lanes(std::span<const std::uint32_t> numbers, Work& work) {
  for (std::size_t i = 0; i < numbers.size(); i += 16) {
    const auto lanes = static_cast<__mmask16>(0xFFFF >> (16 - std::min<std::size_t>(16, numbers.size() - i)));
    work(lanes, _mm512_maskz_loadu_epi32(lanes, numbers.data() + i));
  }
}

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

bool has_lanes() { return false; }

std::uint32_t* copy_wide(std::span<const std::uint64_t>, std::span<const std::uint32_t>, std::uint32_t* out) {
  return out;
}

#endif

#if defined(__x86_64__) && EDGEWIRE_ID_BITS == 32

/// Computes HashOwnership::home() of 16 vertices, each less than kMostVertices.
class Lanes {
 public:
  struct Places {
    __m512i owners, locals;
  };
  EDGEWIRE_WIDE explicit Lanes(const partition::HashOwnership& hash)
      : power_of_two_(std::has_single_bit(hash.processes())),
        bits_(_mm_cvtsi32_si128(std::bit_width(hash.processes() - 1))),
        rest_(_mm_cvtsi32_si128(32 - std::bit_width(hash.processes() - 1))),
        below_(_mm_sub_epi64(bits_, _mm_cvtsi32_si128(1))),
        reciprocal_(_mm512_set1_epi64(reciprocal(hash))),
        mix_low_(_mm512_set1_epi64(kGolden & 0xFFFFFFFF)),
        mix_high_(_mm512_set1_epi32(static_cast<int>(kGolden >> 32))),
        processes_(_mm512_set1_epi32(static_cast<int>(hash.processes()))),
        one_(_mm512_set1_epi32(1)) {}

  EDGEWIRE_WIDE Places operator()(__m512i vertices) const {
    const __m512i block = power_of_two_ ? _mm512_srl_epi32(vertices, bits_)
                                        : _mm512_srl_epi32(high(vertices, reciprocal_), below_);
    const __m512i next = _mm512_add_epi32(block, one_);
    const __m512i mixed = _mm512_add_epi32(high(next, mix_low_), _mm512_mullo_epi32(next, mix_high_));
    const __m512i rotation = power_of_two_ ? _mm512_srl_epi32(mixed, rest_) : high(mixed, processes_);
    const __m512i first =
        power_of_two_ ? _mm512_sll_epi32(block, bits_) : _mm512_mullo_epi32(block, processes_);
    const __m512i at = _mm512_add_epi32(_mm512_sub_epi32(vertices, first), rotation);
    return {_mm512_min_epu32(at, _mm512_sub_epi32(at, processes_)), block};
  }

 private:
  /// Returns ceil(2^(31 + bits) / processes), 2^(bits - 1) < processes <= 2^bits: exact for 31 bits.
  static std::int64_t reciprocal(const partition::HashOwnership& hash) {
    const int rest = 33 - std::bit_width(hash.processes() - 1);
    return static_cast<std::int64_t>((hash.reciprocal() + (std::uint64_t{1} << rest) - 1) >> rest);
  }
  /// Returns the upper halves of the products: those of 32 bits are 64 bits wide, so that odd and even lanes
  /// go through it by turns.
  EDGEWIRE_WIDE static __m512i high(__m512i a, __m512i b) {
    const __m512i even = _mm512_srli_epi64(_mm512_mul_epu32(a, b), 32);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), b);
    return _mm512_mask_mov_epi32(even, 0xAAAA, odd);
  }

  bool power_of_two_;
  __m128i bits_, rest_, below_;
  __m512i reciprocal_, mix_low_, mix_high_, processes_, one_;
};

struct Pick {
  Lanes places;
  __m512i kept;  // set of owners, a bit for each
  std::uint32_t* out;
  EDGEWIRE_WIDE void operator()(__mmask16 lanes, __m512i vertices) {
    const __m512i owner = _mm512_sllv_epi32(_mm512_set1_epi32(1), places(vertices).owners);
    lanes = _mm512_mask_test_epi32_mask(lanes, owner, kept);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(lanes, vertices));
    out += std::popcount(lanes);
  }
};

EDGEWIRE_WIDE std::uint32_t* pick_wide(const partition::HashOwnership& hash,
                                       std::span<const std::uint32_t> vertices,
                                       std::span<const std::uint8_t> kept, std::uint32_t* out) {
  std::uint32_t bits = 0;
  for (std::size_t p = 0; p < kept.size(); ++p) bits |= std::uint32_t{kept[p]} << p;
  Pick pick{Lanes(hash), _mm512_set1_epi32(static_cast<int>(bits)), out};
  for_each_lanes(vertices, pick);
  return pick.out;
}

struct Count {
  Lanes places;
  std::span<std::uint64_t> counts;
  EDGEWIRE_WIDE void operator()(__mmask16 lanes, __m512i vertices) {
    const __m512i owners = places(vertices).owners;
    for (std::size_t p = 0; p < counts.size(); ++p) {
      const auto its = _mm512_mask_cmpeq_epi32_mask(lanes, owners, _mm512_set1_epi32(static_cast<int>(p)));
      counts[p] += static_cast<unsigned>(std::popcount(its));
    }
  }
};

EDGEWIRE_WIDE void count_wide(const partition::HashOwnership& hash, std::span<const std::uint32_t> vertices,
                              std::span<std::uint64_t> counts) {
  Count count{Lanes(hash), counts};
  for_each_lanes(vertices, count);
}

struct Deal {
  Lanes places;
  std::span<LocalNumber*> next;
  EDGEWIRE_WIDE void operator()(__mmask16 lanes, __m512i vertices) {
    const auto [owners, locals] = places(vertices);
    for (std::size_t p = 0; p < next.size(); ++p) {
      const auto its = _mm512_mask_cmpeq_epi32_mask(lanes, owners, _mm512_set1_epi32(static_cast<int>(p)));
      const int count = std::popcount(its);
      _mm512_mask_storeu_epi32(next[p], static_cast<__mmask16>((1 << count) - 1),
                               _mm512_maskz_compress_epi32(its, locals));
      next[p] += count;
    }
  }
};

EDGEWIRE_WIDE void deal_wide(const partition::HashOwnership& hash, std::span<const std::uint32_t> vertices,
                             std::span<LocalNumber*> next) {
  Deal deal{Lanes(hash), next};
  for_each_lanes(vertices, deal);
}

#else

PlainId* pick_wide(const partition::HashOwnership&, std::span<const PlainId>, std::span<const std::uint8_t>,
                   PlainId* out) {
  return out;
}
void count_wide(const partition::HashOwnership&, std::span<const PlainId>, std::span<std::uint64_t>) {}
void deal_wide(const partition::HashOwnership&, std::span<const PlainId>, std::span<LocalNumber*>) {}

#endif

}  // namespace

OwnerFilter::OwnerFilter(const partition::Ownership& ownership, bool wide) : ownership_(ownership) {
  if (wide && !kIds64 && has_lanes() && ownership.processes() > 1 && ownership.processes() <= kMostPicked &&
      ownership.vertices() <= kMostVertices)
    hash_ = ownership.hashed();
}

PlainId* OwnerFilter::pick(std::span<const VertexId> vertices, std::span<const std::uint8_t> kept,
                           PlainId* out) const noexcept {
  if (wide()) return pick_wide(*hash_, plain(vertices), kept, out);
  ownership_.visit([&](const auto& scheme) {
    for (const auto v : vertices) {
      *out = v;
      out += kept[scheme.home(v).owner];
    }
  });
  return out;
}

void OwnerFilter::count(std::span<const VertexId> vertices, std::span<std::uint64_t> counts) const noexcept {
  if (wide() && ownership_.processes() <= kMostDealt) return count_wide(*hash_, plain(vertices), counts);
  ownership_.visit([&](const auto& scheme) {
    for (const auto v : vertices) ++counts[scheme.home(v).owner];
  });
}

void OwnerFilter::deal(std::span<const VertexId> vertices, std::span<LocalNumber*> next) const noexcept {
  if (wide() && ownership_.processes() <= kMostDealt) return deal_wide(*hash_, plain(vertices), next);
  ownership_.visit([&](const auto& scheme) {
    for (const auto v : vertices) {
      const Home home = scheme.home(v);
      *next[home.owner]++ = home.local;
    }
  });
}

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
