// Codes of tiles that are wrong. They give some words or none, and never more than they say.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/rooms.h"
#include "dense/tiles/tile_code.h"
#include "edgewire/detail/tile_format.h"
#include "fuzz.h"

namespace edgewire::tiles {

namespace {

/// The code of a tile with bundles of one, of five and of kBundle others, small numbers most of them.
std::string code_of_some_tile(std::uint16_t flags, std::uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<std::uint16_t> words(kTileHeaderWords + 6);
  words[1] = flags;
  words[2] = 1U | 1U << 4 | 1U << (kBundle - 1);
  for (std::size_t i = 0; i < 3; ++i)
    write_count(&words[kTileHeaderWords + 2 * i], static_cast<std::uint32_t>(20 + random() % 50));
  words.resize(words_of(words.data()));
  for (std::size_t i = kTileHeaderWords + 6; i < words.size(); ++i)
    words[i] = static_cast<std::uint16_t>(random() % (random() % 9 == 0 ? 3000 : 6));
  std::vector<std::byte> code;
  encode_tiles(words, code);
  return {reinterpret_cast<const char*>(code.data()), code.size()};
}

TEST_CASE("damaged codes of tiles") {
  std::vector<std::string> seeds;
  for (const unsigned flags : {0U, 1U, unsigned{kFloatWeights}, 1U | kDoubleWeights})
    for (const std::uint32_t seed : {1U, 2U})
      seeds.push_back(code_of_some_tile(static_cast<std::uint16_t>(flags), seed));
  fuzz::feed({.name = "tile code",
              .read =
                  [](const fuzz::Input& input) {
                    std::vector<std::byte> code(input.bytes.size());  // whose end a sanitizer knows
                    std::ranges::transform(input.bytes, code.begin(),
                                           [](char byte) { return static_cast<std::byte>(byte); });
                    std::vector<std::uint16_t> words(decoded_words(code));
                    CHECK(words.size() <= 256 * code.size());
                    if (!decode_tiles(code, words)) return "no tiles";
                    return are_tiles(words, 5000, 4000) ? "tiles" : "words";
                  },
              .seeds = seeds});
}

}  // namespace

}  // namespace edgewire::tiles
