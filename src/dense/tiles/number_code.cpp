#include "dense/tiles/number_code.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace edgewire::tiles {

namespace {

constexpr std::size_t kBlock = NumberReader::kBlock;
constexpr unsigned kWordBits = 16, kByteBits = 8;
constexpr std::size_t kLanes = 8, kRows = kBlock / kLanes;

// The bits of the first byte of a block. With exceptions, their count and the number of their high bits
// follow.
constexpr unsigned kWidthBits = 0x1f, kPlusOne = 0x20, kExceptions = 0x40;

using Lanes [[gnu::vector_size(kLanes * sizeof(std::uint16_t))]] = std::uint16_t;

constexpr std::size_t packed_bytes(unsigned width) { return kBlock * width / kByteBits; }
constexpr std::size_t bytes_of_bits(std::size_t bits) { return (bits + kByteBits - 1) / kByteBits; }

/// The way in which a block is written.
struct Choice {
  unsigned width = 0;       ///< number of low bits of each number
  unsigned extra = 0;       ///< number of high bits of an exception
  unsigned exceptions = 0;  ///< number of exceptions
};

/// Returns the choice that takes the fewest bytes.
Choice choose(const std::array<std::uint16_t, kBlock>& numbers) {
  std::array<unsigned, kWordBits + 1> by_width{};
  for (const std::uint16_t number : numbers) ++by_width[static_cast<std::size_t>(std::bit_width(number))];
  unsigned most = kWordBits;
  while (most > 0 && by_width[most] == 0) --most;
  Choice best{most, 0, 0};
  std::size_t least = packed_bytes(most);
  unsigned exceptions = 0;
  for (unsigned width = most; width-- > 0;) {
    exceptions += by_width[width + 1];
    const unsigned extra = most - width;
    const std::size_t bytes =
        packed_bytes(width) + 2 + exceptions + bytes_of_bits(std::size_t{exceptions} * extra);
    if (bytes >= least || exceptions == kBlock) continue;
    least = bytes;
    best = {width, extra, exceptions};
  }
  return best;
}

void put_exceptions(const std::array<std::uint16_t, kBlock>& numbers, const Choice& choice,
                    std::vector<std::byte>& code) {
  code.push_back(static_cast<std::byte>(choice.exceptions));
  code.push_back(static_cast<std::byte>(choice.extra));
  for (std::size_t i = 0; i < kBlock; ++i)
    if (numbers[i] >> choice.width != 0) code.push_back(static_cast<std::byte>(i));
  std::uint32_t pending = 0;
  unsigned bits = 0;
  for (const std::uint16_t number : numbers) {
    if (number >> choice.width == 0) continue;
    pending |= static_cast<std::uint32_t>(number >> choice.width) << bits;
    for (bits += choice.extra; bits >= kByteBits; bits -= kByteBits, pending >>= kByteBits)
      code.push_back(static_cast<std::byte>(pending));
  }
  if (bits > 0) code.push_back(static_cast<std::byte>(pending));
}

/// Packs the numbers. Number i is in lane i % kLanes, at bit i / kLanes * width of it.
void put_packed(const std::array<std::uint16_t, kBlock>& numbers, unsigned width,
                std::vector<std::byte>& code) {
  std::array<std::uint16_t, kBlock + kLanes> words{};
  const auto mask = static_cast<std::uint32_t>((1U << width) - 1);
  for (std::size_t row = 0; row < kRows; ++row) {
    const std::size_t word = row * width / kWordBits * kLanes;
    const auto shift = static_cast<unsigned>(row * width % kWordBits);
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t bits = (numbers[row * kLanes + lane] & mask) << shift;
      words[word + lane] = static_cast<std::uint16_t>(words[word + lane] | bits);
      words[word + kLanes + lane] =
          static_cast<std::uint16_t>(words[word + kLanes + lane] | bits >> kWordBits);
    }
  }
  const auto bytes = std::as_bytes(std::span(words)).first(packed_bytes(width));
  code.insert(code.end(), bytes.begin(), bytes.end());
}

void encode_block(std::array<std::uint16_t, kBlock>& numbers, std::vector<std::byte>& code) {
  const bool plus_one = std::ranges::find(numbers, 0) == numbers.end();
  if (plus_one)
    for (auto& number : numbers) --number;
  const Choice choice = choose(numbers);
  code.push_back(static_cast<std::byte>(choice.width | (plus_one ? kPlusOne : 0) |
                                        (choice.exceptions > 0 ? kExceptions : 0)));
  if (choice.exceptions > 0) put_exceptions(numbers, choice, code);
  put_packed(numbers, choice.width, code);
}

Lanes load(const std::byte* in) noexcept {
  Lanes lanes;
  std::memcpy(&lanes, in, sizeof lanes);
  return lanes;
}

/// Unpacks a block, and adds `plus` to each number.
template <unsigned Width>
void unpack(const std::byte* in, std::uint16_t plus, std::uint16_t* out) noexcept {
  constexpr auto kMask = static_cast<std::uint16_t>((1U << Width) - 1);
#pragma GCC unroll 16
  for (unsigned row = 0; row < kRows; ++row) {
    const std::byte* const from = in + row * Width / kWordBits * sizeof(Lanes);
    const auto shift = static_cast<std::uint16_t>(row * Width % kWordBits);
    Lanes numbers{};
    if (Width > 0) numbers = load(from) >> shift;
    if (shift + Width > kWordBits)
      numbers |= load(from + sizeof(Lanes)) << static_cast<std::uint16_t>(kWordBits - shift);
    numbers = (numbers & kMask) + plus;
    std::memcpy(out + row * kLanes, &numbers, sizeof numbers);
  }
}

using Unpack = void (*)(const std::byte*, std::uint16_t, std::uint16_t*) noexcept;
template <unsigned... Widths>
constexpr std::array<Unpack, sizeof...(Widths)> by_width(std::integer_sequence<unsigned, Widths...>) {
  return {&unpack<Widths>...};
}
constexpr auto kUnpack = by_width(std::make_integer_sequence<unsigned, kWordBits + 1>());

}  // namespace

void encode_numbers(std::span<const std::uint16_t> numbers, std::vector<std::byte>& code) {
  std::array<std::uint16_t, kBlock> block{};
  for (; !numbers.empty(); numbers = numbers.subspan(std::min(numbers.size(), kBlock))) {
    const auto some = numbers.first(std::min(numbers.size(), kBlock));
    block.fill(some.back());
    std::ranges::copy(some, block.begin());
    encode_block(block, code);
  }
}

bool NumberReader::refill(std::size_t count) noexcept {
  std::uint16_t* const begin = numbers_.data() + kMargin;
  std::memmove(begin, numbers_.data() + at_, (filled_ - at_) * sizeof(std::uint16_t));
  filled_ -= at_ - kMargin;
  at_ = kMargin;
  for (; filled_ - kMargin < count; filled_ += kBlock)
    if (!decode_block(numbers_.data() + filled_)) return false;
  return true;
}

bool NumberReader::decode_block(std::uint16_t* out) noexcept {
  const auto left = static_cast<std::size_t>(end_ - next_);
  if (left == 0) return false;
  const auto head = std::to_integer<unsigned>(next_[0]);
  const unsigned width = head & kWidthBits;
  if (width > kWordBits) return false;
  std::size_t bytes = 1, count = 0;
  unsigned extra = 0;
  if ((head & kExceptions) != 0) {  // the bytes that are read here may be slack
    count = std::to_integer<std::size_t>(next_[1]);
    extra = std::to_integer<unsigned>(next_[2]);
    if (extra > kWordBits - width) return false;
    bytes = 3 + count + bytes_of_bits(count * extra);
  }
  if (left < bytes + packed_bytes(width)) return false;
  kUnpack[width](next_ + bytes, (head & kPlusOne) != 0 ? 1 : 0, out);
  const std::byte* const places = next_ + 3;
  const std::byte* const high = places + count;
  for (std::size_t i = 0, bit = 0; i < count; ++i, bit += extra) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, high + bit / kByteBits, sizeof bits);
    bits = bits >> bit % kByteBits & ((1U << extra) - 1);
    std::uint16_t& number = out[std::to_integer<std::size_t>(places[i]) % kBlock];
    number = static_cast<std::uint16_t>(number + (bits << width));
  }
  next_ += bytes + packed_bytes(width);
  return true;
}

}  // namespace edgewire::tiles
