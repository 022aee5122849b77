#include "graph/read/decompress.h"

#include <fmt/core.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/vector_registers.h"

#ifdef EDGEWIRE_ZSTD
#include <zstd.h>
#endif

namespace edgewire::graph {

namespace {

// Most plain bytes of one part, which is kept in memory.
constexpr std::size_t kMostPlain = std::size_t{16} << 20;
constexpr std::size_t kMostBgzf = std::size_t{64} << 10;  // most bytes of a block of BGZF

std::size_t u16_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  return bytes[at] + (std::size_t{bytes[at + 1]} << 8);
}

/// Returns the length of the block of BGZF that begins here, as its header says; 0 where there is none.
std::size_t bgzf_length(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kHeader = 12;
  constexpr std::uint8_t kExtraField = 4;
  if (bytes.size() < kHeader || bytes[0] != 0x1F || bytes[1] != 0x8B || bytes[2] != 8 ||
      bytes[3] != kExtraField)
    return 0;
  const std::size_t end = std::min(bytes.size(), kHeader + u16_at(bytes, 10));
  for (std::size_t field = kHeader; field + 4 <= end; field += 4 + u16_at(bytes, field + 2))
    if (bytes[field] == 'B' && bytes[field + 1] == 'C' && u16_at(bytes, field + 2) == 2 && field + 6 <= end)
      return u16_at(bytes, field + 4) + 1;
  return 0;
}

std::optional<PackedPart> bgzf_part(const RawBytes& raw, std::span<const std::uint8_t> bytes) {
  const std::size_t length = bgzf_length(bytes);
  if (length == 0) return {};
  constexpr std::size_t kShortest = 26;  // bytes of a header with its field, and of a trailer
  if (length > bytes.size()) raw.fail(raw.used() + bytes.size(), "the gzip data is cut short");
  const auto wrong_length = [&] {
    raw.fail(raw.used(), "the gzip data is damaged (the length of a BGZF block is wrong)");
  };
  if (length < kShortest) wrong_length();
  const std::size_t plain = u16_at(bytes, length - 4) + (u16_at(bytes, length - 2) << 16);
  if (plain > kMostBgzf) wrong_length();
  return PackedPart{bytes.first(length), raw.used(), plain, true};
}

#ifdef EDGEWIRE_ZSTD
std::optional<PackedPart> zstandard_part(const RawBytes& raw, std::span<const std::uint8_t> bytes) {
  const unsigned long long plain = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (plain == ZSTD_CONTENTSIZE_UNKNOWN || plain == ZSTD_CONTENTSIZE_ERROR || plain > kMostPlain) return {};
  const std::size_t length = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  if (ZSTD_isError(length) != 0) return {};
  return PackedPart{bytes.first(length), raw.used(), static_cast<std::size_t>(plain), false};
}
#endif

/// Returns the part that begins where `raw` stands, of gzip or Zstandard data.
std::optional<PackedPart> next_part(RawBytes& raw, [[maybe_unused]] bool gzip) {
  const auto bytes = raw.peek();
  if (bytes.empty()) return {};
#ifdef EDGEWIRE_ZSTD
  if (!gzip) return zstandard_part(raw, bytes);
#endif
  return bgzf_part(raw, bytes);
}

void unpack_bgzf(const RawBytes& raw, const PackedPart& part, char* to, inflate_state& state) {
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = const_cast<std::uint8_t*>(part.packed.data());
  state.avail_in = static_cast<std::uint32_t>(part.packed.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(to);
  state.avail_out = static_cast<std::uint32_t>(part.plain_bytes + 1);  // more bytes would be a fault
  const int result = isal_inflate(&state);
  const bool whole = result == ISAL_DECOMP_OK && state.block_state == ISAL_BLOCK_FINISH &&
                     state.avail_in == 0 && state.total_out == part.plain_bytes;
  if (!whole)
    raw.fail(part.offset,
             fmt::format("the gzip data is damaged ({})",
                         result < 0 ? inflate_fault(result) : "the length of a BGZF block is wrong"));
}

}  // namespace

const char* inflate_fault(int result) {
  constexpr std::array<std::pair<int, const char*>, 5> kFaults = {
      {{ISAL_INVALID_BLOCK, "invalid block"},
       {ISAL_INVALID_SYMBOL, "invalid symbol"},
       {ISAL_INVALID_LOOKBACK, "invalid distance"},
       {ISAL_INCORRECT_CHECKSUM, "incorrect data check"},
       {ISAL_UNSUPPORTED_METHOD, "unknown compression method"}}};
  const auto fault = std::ranges::find(kFaults, result, &std::pair<int, const char*>::first);
  return fault == kFaults.end() ? "incorrect header check" : fault->second;
}

std::optional<PartReader> PartReader::of(RawBytes& raw) {
  if (!raw.is_file()) return {};
  const bool gzip = !is_zstandard(raw.peek());
  const auto first = next_part(raw, gzip);
  if (!first || first->packed.size() == raw.peek().size()) return {};
  return PartReader(raw, gzip);
}

std::size_t PartReader::plain_bytes(std::span<const PackedPart> parts) {
  std::size_t bytes = 0;
  for (const PackedPart& part : parts) bytes += part.plain_bytes;
  return bytes;
}

std::unique_ptr<ByteStream> PartReader::others() {
  return raw_->peek().empty() ? nullptr : more_members(*raw_, gzip_);
}

std::vector<PackedPart> PartReader::take(std::size_t plain_bytes) {
  std::vector<PackedPart> parts;
  for (std::size_t plain = 0; plain < plain_bytes;) {
    const auto part = next_part(*raw_, gzip_);
    if (!part) break;
    parts.push_back(*part);
    plain += part->plain_bytes;
    raw_->use(part->packed.size());
  }
  return parts;
}

void PartReader::unpack(std::span<const PackedPart> parts, char* to) const {
  const std::unique_ptr<inflate_state> state(new inflate_state);
  for (const PackedPart& part : parts) {
    if (part.gzip) {
      with_clean_registers([&] { unpack_bgzf(*raw_, part, to, *state); });
    } else {
#ifdef EDGEWIRE_ZSTD
      const std::size_t made = with_clean_registers(
          [&] { return ZSTD_decompress(to, part.plain_bytes, part.packed.data(), part.packed.size()); });
      if (made != part.plain_bytes)
        raw_->fail(part.offset, fmt::format("the Zstandard data is damaged ({})",
                                            ZSTD_isError(made) != 0 ? ZSTD_getErrorName(made)
                                                                    : "it holds less than it says"));
#endif
    }
    to += part.plain_bytes;
  }
}

}  // namespace edgewire::graph
