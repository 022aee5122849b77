#include "frontier/row_code.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "graph/file/format.h"

namespace edgewire::frontier {

namespace {

// A code begins with k and the start of the first gap.
constexpr unsigned kBitsOfK = 5, kBitsOfStart = 2;
enum Start : std::uint32_t { kAbove, kBelow, kZero };  // from the vertex, or from vertex 0

// A gap whose rest is no smaller than this is written as this number of zeros, and then whole.
constexpr unsigned kLongRest = 16, kBitsOfGap = kIds64 ? 48 : 32;
constexpr unsigned kMostK = 31;
static_assert(graph::kMaxVertices <= std::uint64_t{1} << kBitsOfGap);

struct First {
  std::uint32_t start;
  PlainId gap;
};

First first_of(VertexId vertex, VertexId target) {
  const First near = target < vertex ? First{kBelow, vertex - target} : First{kAbove, target - vertex};
  return target < near.gap ? First{kZero, target} : near;
}

std::uint64_t bits_of(PlainId gap, unsigned k) {
  const PlainId rest = gap >> k;
  return rest < kLongRest ? rest + 1 + k : kLongRest + kBitsOfGap;
}

std::uint64_t bits_of(PlainId first, std::span<const VertexId> targets, unsigned k) {
  std::uint64_t bits = bits_of(first, k);
  for (std::size_t e = 1; e < targets.size(); ++e) bits += bits_of(targets[e] - targets[e - 1], k);
  return bits;
}

/// Returns the k with the fewest bits, or hardly more: it descends from the one that suits the mean.
unsigned choose_k(PlainId first, std::span<const VertexId> targets) {
  const std::uint64_t mean = (std::uint64_t{first} + targets.back() - targets.front()) / targets.size();
  unsigned k = mean == 0 ? 0 : std::min(kMostK, static_cast<unsigned>(std::bit_width(mean)) - 1);
  std::uint64_t least = bits_of(first, targets, k);
  for (const int step : {-1, 1}) {
    for (unsigned next = k + static_cast<unsigned>(step); next <= kMostK;
         next += static_cast<unsigned>(step)) {
      const std::uint64_t bits = bits_of(first, targets, next);
      if (bits >= least) break;
      least = bits;
      k = next;
    }
  }
  return k;
}

/// Appends bits, the least significant ones first.
class BitWriter {
 public:
  explicit BitWriter(std::vector<std::byte>& out) : out_(out) {}
  void put(std::uint64_t bits, unsigned count) {
    pending_ |= bits << count_;
    for (count_ += count; count_ >= 8; count_ -= 8) {
      out_.push_back(static_cast<std::byte>(pending_));
      pending_ >>= 8;
    }
  }
  void put_gap(PlainId gap, unsigned k) {
    const PlainId rest = gap >> k;
    if (rest < kLongRest) {
      put(std::uint64_t{1} << rest, static_cast<unsigned>(rest) + 1);
      put(gap & ((std::uint64_t{1} << k) - 1), k);
    } else {
      put(0, kLongRest);
      put(gap, kBitsOfGap);
    }
  }
  void finish() {
    if (count_ > 0) put(0, 8 - count_);
  }

 private:
  std::vector<std::byte>& out_;
  std::uint64_t pending_ = 0;
  unsigned count_ = 0;  ///< number of pending bits: fewer than 8 between calls
};

/// A reader of bits. Behind the end it reads up to kCodeSlack bytes of any content, and then zeros.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> code) : code_(code), end_(code.size() * 8) {}
  std::uint64_t get(unsigned count) noexcept {
    const std::uint64_t bits = window() & ((std::uint64_t{1} << count) - 1);
    at_ += count;
    return bits;
  }
  std::uint64_t gap(unsigned k) noexcept {
    const std::uint64_t next = window();
    const auto rest = static_cast<unsigned>(std::countr_zero(next | std::uint64_t{1} << kLongRest));
    if (rest == kLongRest) {
      at_ += kLongRest;
      return get(kBitsOfGap);
    }
    at_ += rest + 1 + k;
    return std::uint64_t{rest} << k | (next >> (rest + 1) & ((std::uint64_t{1} << k) - 1));
  }
  /// Returns whether all that was read lies before the end.
  bool within() const noexcept { return at_ <= end_; }
  /// Returns whether no whole byte is left any more.
  bool ended() const noexcept { return within() && end_ - at_ < 8; }

 private:
  /// Returns at least the next 57 bits.
  std::uint64_t window() const noexcept {
    if (at_ > end_) return 0;
    std::uint64_t bits = 0;
    std::memcpy(&bits, code_.data() + at_ / 8, sizeof bits);
    return bits >> at_ % 8;
  }
  std::span<const std::byte> code_;
  std::size_t at_ = 0, end_;  ///< position and end in bits
};

}  // namespace

void encode_row(VertexId vertex, std::span<const VertexId> targets, std::vector<std::byte>& code) {
  const First first = first_of(vertex, targets.front());
  const unsigned k = choose_k(first.gap, targets);
  BitWriter bits(code);
  bits.put(k, kBitsOfK);
  bits.put(first.start, kBitsOfStart);
  bits.put_gap(first.gap, k);
  for (std::size_t e = 1; e < targets.size(); ++e) bits.put_gap(targets[e] - targets[e - 1], k);
  bits.finish();
}

bool decode_row(VertexId vertex, std::span<const std::byte> code, std::uint64_t vertices,
                std::span<VertexId> targets, bool more) noexcept {
  BitReader bits(code);
  const auto k = static_cast<unsigned>(bits.get(kBitsOfK));
  const auto start = static_cast<std::uint32_t>(bits.get(kBitsOfStart));
  const std::uint64_t first = bits.gap(k);
  if (start > kZero || (start == kBelow && first > vertex)) return false;
  std::uint64_t target = start == kZero ? first : start == kBelow ? vertex - first : vertex + first;
  targets[0] = VertexId(static_cast<PlainId>(target));
  for (std::size_t e = 1; e < targets.size(); ++e) {
    target += bits.gap(k);
    targets[e] = VertexId(static_cast<PlainId>(target));
  }
  return (more ? bits.within() : bits.ended()) && target < vertices;
}

}  // namespace edgewire::frontier
