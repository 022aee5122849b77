#include "base/rooms.h"
#include "graph/read/edge_lines.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "edgewire/detail/cpu_level.h"

#if defined(__SSE4_1__)
#include <smmintrin.h>
#endif

namespace edgewire::graph {

#if defined(__SSE4_1__)

namespace {

constexpr std::size_t kWord = 64;           // number of characters that are looked at together
constexpr std::size_t kChunk = 64 * kWord;  // number of characters whose separators are kept
constexpr std::size_t kDigits = 16;         // most digits of a number

/// Returns a word whose bit i says that character i of 64 is no digit.
std::uint64_t separators_of(const char* text) {
  const __m128i zero = _mm_set1_epi8('0'), nine = _mm_set1_epi8(9);
  std::uint64_t digits = 0;
  for (std::size_t part = 0; part < kWord; part += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + part));
    const __m128i values = _mm_sub_epi8(bytes, zero);
    const int are_digits = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(values, nine), values));
    digits |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(are_digits)) << part;
  }
  return ~digits;
}

/// The places of all characters of a chunk that are no digits.
struct Separators {
  std::array<std::uint16_t, kChunk + kWord> at;  // places; some behind `count` are written, too
  std::size_t count = 0;

  void find(const char* text, std::size_t words) {
    std::uint16_t* next = at.data();
    for (std::size_t word = 0; word < words; ++word) {
      __builtin_prefetch(text + word * kWord + kChunk);  // the next chunk
      std::uint64_t left = separators_of(text + word * kWord);
      const auto found = static_cast<std::size_t>(std::popcount(left));
      // A fixed number of turns suits the processor's prediction; most words need no more.
      constexpr std::size_t kUsual = 12;
      const std::size_t base = word * kWord;
      for (std::size_t i = 0; i < kUsual; ++i, left &= left - 1)
        next[i] = static_cast<std::uint16_t>(base + static_cast<std::size_t>(std::countr_zero(left)));
      for (std::size_t i = kUsual; i < found; ++i, left &= left - 1)
        next[i] = static_cast<std::uint16_t>(base + static_cast<std::size_t>(std::countr_zero(left)));
      next += found;
    }
    count = static_cast<std::size_t>(next - at.data());
  }
};

/// Returns the values of the `count` digits before `end`, behind zeros.
__m128i digits_before(const char* end, std::size_t count) {
  alignas(32) static constexpr std::array<std::uint8_t, 2 * kDigits> kMasks = [] {
    std::array<std::uint8_t, 2 * kDigits> masks{};
    std::fill(masks.begin() + kDigits, masks.end(), std::uint8_t{0xFF});
    return masks;
  }();
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(end - kDigits));
  const __m128i mask = _mm_loadu_si128(reinterpret_cast<const __m128i*>(kMasks.data() + count));
  return _mm_and_si128(_mm_sub_epi8(bytes, _mm_set1_epi8('0')), mask);
}

/// Returns the two numbers of these digits: pairs of digits are joined, then pairs of pairs, and so on.
__m128i numbers_of(__m128i a, __m128i b) {
  const __m128i tens = _mm_set1_epi16(0x010A), hundreds = _mm_set1_epi32(0x00010064);
  a = _mm_madd_epi16(_mm_maddubs_epi16(a, tens), hundreds);
  b = _mm_madd_epi16(_mm_maddubs_epi16(b, tens), hundreds);
  const __m128i eights = _mm_madd_epi16(_mm_packus_epi32(a, b), _mm_set1_epi32(0x00012710));
  return _mm_add_epi64(_mm_mul_epu32(eights, _mm_set1_epi64x(100'000'000)), _mm_srli_epi64(eights, 32));
}

/// Writes the ids of edges one behind the other and knows the least and the largest.
class Ids32 {
 public:
  explicit Ids32(std::uint64_t origin)
      : origin_(_mm_set1_epi64x(static_cast<long long>(origin))), least_(_mm_set1_epi32(-1)) {}
  void put(__m128i two, std::uint32_t* to) {
    wide_ = _mm_or_si128(wide_, two);
    least_ = _mm_min_epu32(least_, _mm_shuffle_epi32(two, 0x88));
    most_ = _mm_max_epu32(most_, two);
    const __m128i narrow = _mm_shuffle_epi32(_mm_sub_epi64(two, origin_), 0x88);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), narrow);
  }
  bool within(std::uint64_t least, std::uint64_t most) const {
    const auto lane = [](__m128i from, int index) {
      alignas(16) std::array<std::uint32_t, 4> lanes;
      _mm_store_si128(reinterpret_cast<__m128i*>(lanes.data()), from);
      return lanes[static_cast<std::size_t>(index)];
    };
    return lane(wide_, 1) == 0 && lane(wide_, 3) == 0 &&
           std::min(lane(least_, 0), lane(least_, 1)) >= least &&
           std::max(lane(most_, 0), lane(most_, 2)) <= most;
  }

 private:
  __m128i origin_;
  __m128i least_;
  __m128i most_ = _mm_setzero_si128();
  __m128i wide_ = _mm_setzero_si128();
};

class Ids64 {
 public:
  explicit Ids64(std::uint64_t origin) : origin_(origin) {}
  void put(__m128i two, std::uint64_t* to) {
    alignas(16) std::array<std::uint64_t, 2> ids;
    _mm_store_si128(reinterpret_cast<__m128i*>(ids.data()), two);
    least_ = std::min({least_, ids[0], ids[1]});
    most_ = std::max({most_, ids[0], ids[1]});
    to[0] = ids[0] - origin_;
    to[1] = ids[1] - origin_;
  }
  bool within(std::uint64_t least, std::uint64_t most) const { return least_ >= least && most_ <= most; }

 private:
  std::uint64_t origin_;
  std::uint64_t least_ = ~std::uint64_t{0};
  std::uint64_t most_ = 0;
};

bool is_gap(const PlainShape& shape, char c) {
  return c == shape.gaps[0] || c == shape.gaps[1] || c == shape.gaps[2];
}

/// Reads the lines of one chunk, and returns the place of the first that it did not read.
template <class IdsOf, class Id>
std::size_t parse_chunk(const char* text, const Separators& separators, const PlainShape& shape, IdsOf& ids,
                        Id*& out) {
  std::size_t begin = 0;
  const std::uint16_t* at = separators.at.data();
  const std::uint16_t* const end = at + separators.count;
  Id* to = out;
  for (; end - at >= 2; at += 2) {
    const std::size_t gap = at[0], line_end = at[1];
    const std::size_t first = gap - begin, second = line_end - gap - 1;
    if (first - 1 >= kDigits || second - 1 >= kDigits || !is_gap(shape, text[gap])) break;
    std::size_t next = line_end + 1;
    if (text[line_end] != '\n') {
      if (text[line_end] != '\r' || end - at < 3 || at[2] != next || text[next] != '\n') break;
      ++next;
      ++at;
    }
    ids.put(numbers_of(digits_before(text + gap, first), digits_before(text + line_end, second)), to);
    to += 2;
    begin = next;
  }
  out = to;
  return begin;
}

template <class IdsOf, class Id>
PlainLines<Id> parse_chunks(std::string_view text, const PlainShape& shape, Id* out) {
  Separators separators;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    const std::size_t words = std::min(static_cast<std::size_t>(end - at), kChunk) / kWord;
    separators.find(at, words);
    IdsOf ids(shape.origin);
    Id* chunk_end = out;
    const std::size_t read = parse_chunk(at, separators, shape, ids, chunk_end);
    if (read == 0 || !ids.within(shape.min_id, shape.max_id)) return {at, out};
    at += read;
    out = chunk_end;
  }
}

}  // namespace

template <class Id>
PlainLines<Id> parse_plain_lines(std::string_view text, const PlainShape& shape, Id* ids) {
  using IdsOf = std::conditional_t<sizeof(Id) == 4, Ids32, Ids64>;
  return topology::run_for_cpu([&] { return parse_chunks<IdsOf>(text, shape, ids); });
}

#else

template <class Id>
PlainLines<Id> parse_plain_lines(std::string_view text, const PlainShape&, Id* ids) {
  return {text.data(), ids};
}

#endif

template PlainLines<std::uint32_t> parse_plain_lines(std::string_view, const PlainShape&, std::uint32_t*);
template PlainLines<std::uint64_t> parse_plain_lines(std::string_view, const PlainShape&, std::uint64_t*);

}  // namespace edgewire::graph
