#include "dense/tiles/tile_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/rooms.h"
#include "dense/tiles/number_code.h"
#include "edgewire/detail/tile_format.h"

namespace edgewire::tiles {

namespace {

/// The beginning of a code. Behind it are the streams, the weights and kNumberSlack bytes. If there are no
/// bytes of heads, the words follow as they are.
struct CodeHeader {
  std::uint32_t words = 0;
  std::uint32_t heads = 0, keys = 0, firsts = 0, rests = 0;  ///< numbers of bytes of the streams
};
static_assert(sizeof(CodeHeader) == 20);

/// The bit of the second word of a tile's head that says that the others of each bundle ascend, and are
/// stored as gaps.
constexpr std::uint16_t kGaps = 0x8000;

constexpr std::uint64_t kMostWordsPerByte = 256;
constexpr std::uint32_t kBundlesAtOnce = 128;
static_assert(kBundlesAtOnce * (kBundle - 1) <= NumberReader::kMostTaken);

/// Folds a difference: small ones in either direction become small numbers.
constexpr std::uint16_t fold(std::uint16_t difference) noexcept {
  return static_cast<std::uint16_t>(difference << 1 ^ ((difference >> 15) != 0 ? 0xffff : 0));
}
constexpr std::uint16_t unfold(std::uint16_t folded) noexcept {
  return static_cast<std::uint16_t>(folded >> 1 ^ ((folded & 1) != 0 ? 0xffff : 0));
}

std::uint16_t difference(std::uint16_t a, std::uint16_t b) { return static_cast<std::uint16_t>(a - b); }

/// Calls `visit(others, bundle)` for all bundles of a size, before the next size.
template <class BeforeSize, class Visit>
const std::uint16_t* each_bundle(const std::uint16_t* tile, const BeforeSize& before, const Visit& visit) {
  const std::uint16_t* at = tile + head_words(tile);
  for_each_size(tile, [&](std::uint32_t others, std::uint32_t bundles) {
    before();
    for (; bundles > 0; --bundles, at += 1 + others) visit(others, at);
  });
  return at;
}

/// The numbers of tiles, by stream.
struct Streams {
  std::vector<std::uint16_t> heads, keys, firsts, rests, weights;

  void add(const std::uint16_t* tile) {
    bool ascend = true;
    each_bundle(
        tile, [] {},
        [&](std::uint32_t others, const std::uint16_t* bundle) {
          ascend = ascend && std::is_sorted(bundle + 1, bundle + 1 + others);
        });
    const std::size_t head = heads.size();
    heads.insert(heads.end(), tile, tile + head_words(tile));
    if (ascend) heads[head + 1] |= kGaps;
    std::uint16_t key = 0, first = 0;
    const std::uint16_t* const end = each_bundle(
        tile, [&] { key = first = 0; },
        [&](std::uint32_t others, const std::uint16_t* bundle) {
          keys.push_back(difference(bundle[0], std::exchange(key, bundle[0])));
          firsts.push_back(fold(difference(bundle[1], std::exchange(first, bundle[1]))));
          for (std::uint32_t i = 2; i <= others; ++i)
            rests.push_back(ascend ? difference(bundle[i], bundle[i - 1]) : bundle[i]);
        });
    weights.insert(weights.end(), end, tile + tiles::words_of(tile));
  }
};

void append(const void* data, std::size_t bytes, std::vector<std::byte>& code) {
  const auto* const begin = static_cast<const std::byte*>(data);
  code.insert(code.end(), begin, begin + bytes);
}

constexpr std::uint32_t kAtOnce = 4;  ///< number of others that fit in a register

/// Sets the others of a bundle, a multiple of kAtOnce, from the first one and the gaps between them. A
/// product with kOnes adds up four numbers of 16 bits: each becomes the sum of itself and those before it.
template <std::uint32_t Others>
void add_gaps(std::uint16_t first, const std::uint16_t* gaps, std::uint16_t* others) noexcept {
  static_assert(std::endian::native == std::endian::little && Others % kAtOnce == 0);
  constexpr std::uint64_t kOnes = 0x0001'0001'0001'0001;
  std::uint64_t sums = 0;
  for (std::uint32_t i = 0; i < Others; i += kAtOnce) {
    std::uint64_t numbers = 0;
    std::memcpy(&numbers, gaps + i - 1, sizeof numbers);
    if (i == 0) numbers = (numbers & ~std::uint64_t{0xffff}) | first;
    sums = (numbers + (sums >> 48)) * kOnes;
    std::memcpy(others + i, &sums, sizeof sums);
  }
}

/// The numbers that a run of bundles of one size is made of.
struct Numbers {
  const std::uint16_t* keys;
  const std::uint16_t* firsts;
  const std::uint16_t* rests;
  std::uint16_t key = 0, first = 0;  ///< key and first other of the bundle before
};

template <std::uint32_t Others, bool Gaps>
void set_bundles(std::uint32_t count, Numbers& from, std::uint16_t* out) noexcept {
  std::uint16_t key = from.key, first = from.first;
  const std::uint16_t* rests = from.rests;
  for (std::uint32_t b = 0; b < count; ++b, out += 1 + Others, rests += Others - 1) {
    key = static_cast<std::uint16_t>(key + from.keys[b]);
    first = static_cast<std::uint16_t>(first + unfold(from.firsts[b]));
    out[0] = key;
    if constexpr (Gaps && Others % kAtOnce == 0) {
      add_gaps<Others>(first, rests, out + 1);
    } else {
      std::uint16_t other = out[1] = first;
      for (std::uint32_t i = 0; i + 1 < Others; ++i)
        out[2 + i] = other = static_cast<std::uint16_t>((Gaps ? other : 0) + rests[i]);
    }
  }
  from.key = key;
  from.first = first;
}

using SetBundles = void (*)(std::uint32_t, Numbers&, std::uint16_t*) noexcept;
template <bool Gaps, std::uint32_t... Sizes>
constexpr std::array<SetBundles, sizeof...(Sizes)> by_others(std::integer_sequence<std::uint32_t, Sizes...>) {
  return {&set_bundles<Sizes + 1, Gaps>...};
}

/// A decoder that takes tiles out of the streams.
class TileDecoder {
 public:
  TileDecoder(const CodeHeader& header, std::span<const std::byte> streams) noexcept
      : heads_(take(streams, header.heads)),
        keys_(take(streams, header.keys)),
        firsts_(take(streams, header.firsts)),
        rests_(take(streams, header.rests)),
        weights_(streams) {}

  /// Sets the first words of `out` to the next tile, and takes them away.
  bool next(std::span<std::uint16_t>& out) noexcept {
    if (out.size() < kTileHeaderWords) return false;
    const std::uint16_t* head = heads_.take(kTileHeaderWords);
    if (head == nullptr) return false;
    std::uint16_t* const tile = out.data();
    std::copy_n(head, kTileHeaderWords, tile);
    const bool gaps = (tile[1] & kGaps) != 0;
    tile[1] = static_cast<std::uint16_t>(tile[1] & ~kGaps);
    const std::size_t front = head_words(tile);
    if (out.size() < front || (head = heads_.take(front - kTileHeaderWords)) == nullptr) return false;
    std::copy_n(head, front - kTileHeaderWords, tile + kTileHeaderWords);
    out = out.subspan(front);
    bool well = true;
    for_each_size(tile, [&](std::uint32_t others, std::uint32_t count) {
      well = well && set_size(others, count, gaps, out);
    });
    if (!well) return false;
    const std::uint64_t words = edges_of(tile) * weight_words(tile);
    if (words > out.size() || words * sizeof(std::uint16_t) > weights_.size()) return false;
    const auto weights = take(weights_, words * sizeof(std::uint16_t));
    if (words > 0) std::memcpy(out.data(), weights.data(), weights.size());
    out = out.subspan(words);
    return true;
  }

 private:
  static std::span<const std::byte> take(std::span<const std::byte>& from, std::size_t bytes) noexcept {
    return std::exchange(from, from.subspan(bytes)).first(bytes);
  }

  /// Sets all bundles of a size.
  bool set_size(std::uint32_t others, std::uint32_t count, bool gaps,
                std::span<std::uint16_t>& out) noexcept {
    static constexpr std::make_integer_sequence<std::uint32_t, kBundle> kSizes;
    static constexpr std::array kSet{by_others<false>(kSizes), by_others<true>(kSizes)};
    if (std::uint64_t{count} * (1 + others) > out.size()) return false;
    Numbers numbers{};
    for (std::uint32_t some = 0; count > 0; count -= some) {
      some = std::min(count, kBundlesAtOnce);
      numbers.keys = keys_.take(some);
      numbers.firsts = firsts_.take(some);
      numbers.rests = rests_.take(std::size_t{some} * (others - 1));
      if (numbers.keys == nullptr || numbers.firsts == nullptr || numbers.rests == nullptr) return false;
      kSet[gaps ? 1 : 0][others - 1](some, numbers, out.data());
      out = out.subspan(std::size_t{some} * (1 + others));
    }
    return true;
  }

  NumberReader heads_, keys_, firsts_, rests_;
  std::span<const std::byte> weights_;
};

}  // namespace

void encode_tiles(std::span<const std::uint16_t> words, std::vector<std::byte>& code) {
  Streams streams;
  for (auto left = words; !left.empty(); left = left.subspan(words_of(left.data()))) streams.add(left.data());
  CodeHeader header{.words = static_cast<std::uint32_t>(words.size())};
  code.assign(sizeof header, std::byte{0});
  const auto put = [&](const std::vector<std::uint16_t>& numbers) {
    const std::size_t before = code.size();
    encode_numbers(numbers, code);
    return static_cast<std::uint32_t>(code.size() - before);
  };
  header.heads = put(streams.heads);
  header.keys = put(streams.keys);
  header.firsts = put(streams.firsts);
  header.rests = put(streams.rests);
  append(streams.weights.data(), streams.weights.size() * sizeof(std::uint16_t), code);
  code.resize(code.size() + kNumberSlack);
  if (code.size() >= sizeof header + words.size_bytes()) {
    header = {.words = header.words};
    code.resize(sizeof header);
    append(words.data(), words.size_bytes(), code);
  }
  std::memcpy(code.data(), &header, sizeof header);
}

std::size_t decoded_words(std::span<const std::byte> code) noexcept {
  CodeHeader header;
  if (code.size() < sizeof header) return 0;
  std::memcpy(&header, code.data(), sizeof header);
  return header.words < kMostWordsPerByte * code.size() ? header.words : 0;
}

bool decode_tiles(std::span<const std::byte> code, std::span<std::uint16_t> words) noexcept {
  if (words.empty() || decoded_words(code) != words.size()) return false;
  CodeHeader header;
  std::memcpy(&header, code.data(), sizeof header);
  const auto rest = code.subspan(sizeof header);
  if (header.heads == 0) {
    if (rest.size() != words.size_bytes()) return false;
    std::memcpy(words.data(), rest.data(), rest.size());
    return true;
  }
  const std::uint64_t streams =
      std::uint64_t{header.heads} + header.keys + header.firsts + header.rests + kNumberSlack;
  if (streams > rest.size()) return false;
  TileDecoder decoder(header, rest.first(rest.size() - kNumberSlack));
  while (!words.empty())
    if (!decoder.next(words)) return false;
  return true;
}

}  // namespace edgewire::tiles
