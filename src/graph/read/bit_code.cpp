#include "graph/read/webgraph_rows.h"

#include "base/error.h"

namespace edgewire::graph {

namespace {

constexpr unsigned kLongest = 56;  ///< most bits of a number

/// Takes the bits of a number below its highest one, after the code of their number.
std::optional<std::uint64_t> lower_bits(BitStream& bits, std::optional<std::uint64_t> width) noexcept {
  if (!width || *width > kLongest) return std::nullopt;
  return (std::uint64_t{1} << *width | bits.take(static_cast<unsigned>(*width))) - 1;
}

std::optional<std::uint64_t> gamma(BitStream& bits) noexcept { return lower_bits(bits, bits.unary()); }

std::optional<std::uint64_t> delta(BitStream& bits) noexcept { return lower_bits(bits, gamma(bits)); }

std::optional<std::uint64_t> zeta(BitStream& bits, std::uint64_t k) noexcept {
  const auto h = bits.unary();
  if (!h || *h > kLongest || k > kLongest || *h * k + k > kLongest) return std::nullopt;
  const std::uint64_t least = std::uint64_t{1} << (*h * k);
  const std::uint64_t number = bits.take(static_cast<unsigned>(*h * k + k - 1));
  return number < least ? number + least - 1 : (number << 1 | bits.take(1)) - 1;
}

std::optional<std::uint64_t> golomb(BitStream& bits, std::uint64_t modulus) noexcept {
  const auto quotient = bits.unary();
  const auto width = static_cast<unsigned>(std::bit_width(modulus)) - 1;
  if (!quotient || width > 32 || *quotient > (std::uint64_t{1} << kLongest) / modulus) return std::nullopt;
  const std::uint64_t short_ones = (std::uint64_t{2} << width) - modulus;
  std::uint64_t rest = bits.take(width);
  if (rest >= short_ones) rest = (rest << 1 | bits.take(1)) - short_ones;
  return *quotient * modulus + rest;
}

std::optional<std::uint64_t> nibbles(BitStream& bits) noexcept {
  for (std::uint64_t number = 0;;) {
    const bool last = bits.take(1) == 1;
    number = number << 3 | bits.take(3);
    if (number >> kLongest != 0 || bits.at > bits.end()) return std::nullopt;
    if (last) return number;
  }
}

}  // namespace

std::optional<std::uint64_t> BitStream::unary() noexcept {
  constexpr unsigned kSure = 56;
  for (std::uint64_t zeros = 0; at < end(); zeros += kSure, at += kSure) {
    const std::uint64_t word = peek();
    if (word == 0) continue;
    const auto more = static_cast<unsigned>(std::countl_zero(word));
    at += more + 1;
    return zeros + more;
  }
  return std::nullopt;
}

std::uint64_t BitStream::peek_at_end() const noexcept {
  std::uint64_t word = 0;
  const std::uint64_t byte = at / 8;
  for (std::uint64_t i = 0; i < sizeof word; ++i)
    word = word << 8 | (byte + i < bytes_ ? data_[byte + i] : std::uint8_t{0});
  return word << at % 8;
}

void BitStream::fail(std::string_view what) const {
  const std::string text = fmt::format("{} (bit {})", what, at);
  if (file_ == nullptr) throw Error(text);
  file_->fail(at / 8, text);
}

BitCodeReader::BitCodeReader(BitCode code, std::uint64_t parameter) : code_(code), parameter_(parameter) {
  for (std::size_t index = 0; index < table_.size(); ++index) {
    std::array<std::uint8_t, 16> bytes{};
    bytes.fill(0xFF);  // the ones that follow end any code
    bytes[0] = static_cast<std::uint8_t>(index >> (kIndexBits - 8));
    bytes[1] = static_cast<std::uint8_t>(index << (16 - kIndexBits) | 0xF);
    BitStream bits{std::span<const std::uint8_t>(bytes)};
    const auto number = decode(bits);
    if (number && bits.at <= kIndexBits && *number < table_.size())
      table_[index] = static_cast<std::uint16_t>(*number * 16 + bits.at);
  }
}

std::optional<std::uint64_t> BitCodeReader::decode(BitStream& bits) const noexcept {
  switch (code_) {
    case BitCode::gamma:
      return gamma(bits);
    case BitCode::delta:
      return delta(bits);
    case BitCode::unary:
      return bits.unary();
    case BitCode::zeta:
      return zeta(bits, parameter_);
    case BitCode::golomb:
      return golomb(bits, parameter_);
    case BitCode::nibble:
      return nibbles(bits);
  }
  return std::nullopt;
}

BitCodeReader::Number BitCodeReader::read_long(BitStream bits) const {
  const BitStream begin = bits;
  const auto number = decode(bits);
  if (bits.at > bits.end() || (!number && bits.at >= bits.end()))
    begin.fail("the file ends within the code of a number that begins here");
  if (!number) begin.fail("the code of a number that begins here is too long");
  return {*number, bits.at};
}

}  // namespace edgewire::graph
