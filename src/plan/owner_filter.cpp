#include "plan/owner_filter.h"

#if defined(__x86_64__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // undefined lanes (GCC bug 105593)
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

#include <algorithm>
#include <bit>

namespace edgewire::plan {

namespace {

constexpr int kMostPicked = 32;  // processes: a bit of a lane for each
constexpr int kMostDealt = 16;   // beyond, one vertex after the other is faster

#if defined(__x86_64__)

#define EDGEWIRE_WIDE __attribute__((target("avx512f")))

/// HashOwnership::place() of 16 vertices. Products of 32 bits are 64 bits wide, so that odd and even vertices
/// go through it by turns.
class Lanes {
 public:
  struct Places {
    __m512i owners, locals;
  };
  EDGEWIRE_WIDE explicit Lanes(const HashOwnership& hash)
      : reciprocal_low_(_mm512_set1_epi64(static_cast<std::int64_t>(hash.reciprocal() & 0xFFFFFFFF))),
        reciprocal_high_(_mm512_set1_epi64(static_cast<std::int64_t>(hash.reciprocal() >> 32))),
        mix_low_(_mm512_set1_epi64(HashOwnership::kMix & 0xFFFFFFFF)),
        mix_high_(_mm512_set1_epi64(HashOwnership::kMix >> 32)),
        processes_(_mm512_set1_epi32(static_cast<int>(hash.processes()))),
        one_(_mm512_set1_epi64(1)) {}

  EDGEWIRE_WIDE Places operator()(__m512i vertices) const {
    __m512i even, odd;
    const __m512i even_block = block(vertices, even);
    const __m512i odd_block = block(_mm512_srli_epi64(vertices, 32), odd);
    const __m512i at = merge(even, odd);
    return {_mm512_min_epu32(at, _mm512_sub_epi32(at, processes_)), merge(even_block, odd_block)};
  }

 private:
  EDGEWIRE_WIDE static __m512i merge(__m512i even, __m512i odd) {
    return _mm512_mask_mov_epi32(even, 0xAAAA, _mm512_slli_epi64(odd, 32));
  }
  /// The block of the vertices, and in the lower halves of `at` their place in its order, less than twice the
  /// processes.
  EDGEWIRE_WIDE __m512i block(__m512i vertices, __m512i& at) const {
    const __m512i carry = _mm512_srli_epi64(_mm512_mul_epu32(reciprocal_low_, vertices), 32);
    const __m512i block =
        _mm512_srli_epi64(_mm512_add_epi64(_mm512_mul_epu32(reciprocal_high_, vertices), carry), 32);
    const __m512i next = _mm512_add_epi64(block, one_);
    const __m512i mixed = _mm512_add_epi64(_mm512_srli_epi64(_mm512_mul_epu32(mix_low_, next), 32),
                                           _mm512_mul_epu32(mix_high_, next));
    const __m512i rotation = _mm512_srli_epi64(_mm512_mul_epu32(mixed, processes_), 32);
    at = _mm512_add_epi64(_mm512_sub_epi64(vertices, _mm512_mul_epu32(block, processes_)), rotation);
    return block;
  }

  __m512i reciprocal_low_, reciprocal_high_, mix_low_, mix_high_, processes_, one_;
};

/// work(lanes that hold a vertex, vertices)
template <class Work>
EDGEWIRE_WIDE inline void for_each_lanes(std::span<const std::uint32_t> vertices, Work& work) {
  for (std::size_t i = 0; i < vertices.size(); i += 16) {
    const auto lanes =
        static_cast<__mmask16>(0xFFFF >> (16 - std::min<std::size_t>(16, vertices.size() - i)));
    work(lanes, _mm512_maskz_loadu_epi32(lanes, vertices.data() + i));
  }
}

struct Pick {
  Lanes places;
  __m512i kept;  // a bit for each owner
  std::uint32_t* out;
  EDGEWIRE_WIDE void operator()(__mmask16 lanes, __m512i vertices) {
    const __m512i owner = _mm512_sllv_epi32(_mm512_set1_epi32(1), places(vertices).owners);
    lanes = _mm512_mask_test_epi32_mask(lanes, owner, kept);
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(lanes, vertices));
    out += std::popcount(lanes);
  }
};

EDGEWIRE_WIDE std::uint32_t* pick_wide(const HashOwnership& hash, std::span<const std::uint32_t> vertices,
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

EDGEWIRE_WIDE void count_wide(const HashOwnership& hash, std::span<const std::uint32_t> vertices,
                              std::span<std::uint64_t> counts) {
  Count count{Lanes(hash), counts};
  for_each_lanes(vertices, count);
}

struct Deal {
  Lanes places;
  std::span<std::uint32_t*> next;
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

EDGEWIRE_WIDE void deal_wide(const HashOwnership& hash, std::span<const std::uint32_t> vertices,
                             std::span<std::uint32_t*> next) {
  Deal deal{Lanes(hash), next};
  for_each_lanes(vertices, deal);
}

bool has_lanes() { return __builtin_cpu_supports("avx512f") != 0; }

#else

bool has_lanes() { return false; }
std::uint32_t* pick_wide(const HashOwnership&, std::span<const std::uint32_t>, std::span<const std::uint8_t>,
                         std::uint32_t* out) {
  return out;
}
void count_wide(const HashOwnership&, std::span<const std::uint32_t>, std::span<std::uint64_t>) {}
void deal_wide(const HashOwnership&, std::span<const std::uint32_t>, std::span<std::uint32_t*>) {}

#endif

}  // namespace

OwnerFilter::OwnerFilter(const Ownership& ownership, bool wide) : ownership_(ownership) {
  if (wide && has_lanes() && ownership.processes() > 1 && ownership.processes() <= kMostPicked)
    hash_ = ownership.hashed();
}

std::uint32_t* OwnerFilter::pick(std::span<const std::uint32_t> vertices, std::span<const std::uint8_t> kept,
                                 std::uint32_t* out) const noexcept {
  if (wide()) return pick_wide(*hash_, vertices, kept, out);
  ownership_.visit([&](const auto& scheme) {
    for (const auto v : vertices) {
      *out = v;
      out += kept[scheme.place(v).owner];
    }
  });
  return out;
}

void OwnerFilter::count(std::span<const std::uint32_t> vertices,
                        std::span<std::uint64_t> counts) const noexcept {
  if (wide() && ownership_.processes() <= kMostDealt) return count_wide(*hash_, vertices, counts);
  ownership_.visit([&](const auto& scheme) {
    for (const auto v : vertices) ++counts[scheme.place(v).owner];
  });
}

void OwnerFilter::deal(std::span<const std::uint32_t> vertices,
                       std::span<std::uint32_t*> next) const noexcept {
  if (wide() && ownership_.processes() <= kMostDealt) return deal_wide(*hash_, vertices, next);
  ownership_.visit([&](const auto& scheme) {
    for (const auto v : vertices) {
      const Place place = scheme.place(v);
      *next[place.owner]++ = place.local;
    }
  });
}

}  // namespace edgewire::plan
