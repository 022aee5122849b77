// Tiles as codes: the same words come back, and damaged codes stay within their arrays.
#include "dense/tiles/tile_code.h"
#include "base/rooms.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

#include "dense/tiles/number_code.h"
#include "edgewire/detail/tile_format.h"
#include "tile_edges.h"

namespace edgewire::tiles {
namespace {

using Words = std::vector<std::uint16_t>;

/// What comes back from the code. Nothing behind it may change.
Words decoded(const std::vector<std::byte>& code) {
  constexpr std::uint16_t kMark = 0x5a5a;
  constexpr std::size_t kMarks = 64;
  const std::size_t count = decoded_words(code);
  Words words(count + kMarks, kMark);
  const bool right = decode_tiles(code, std::span(words).first(count));
  CHECK(std::all_of(words.end() - kMarks, words.end(), [](auto word) { return word == kMark; }));
  words.resize(right ? count : 0);
  return words;
}

/// The size of the code, in bytes.
std::size_t check_round_trip(const Words& words) {
  std::vector<std::byte> code;
  encode_tiles(words, code);
  CHECK(decoded(code) == words);
  return code.size();
}

/// A tile with `counts[n - 1]` bundles of n others, whose words come from `next_word`.
template <class NextWord>
void add_tile(std::uint16_t strip, unsigned flags, const std::vector<std::uint32_t>& counts,
              const NextWord& next_word, Words& words) {
  const std::size_t begin = words.size();
  words.insert(words.end(), {strip, static_cast<std::uint16_t>(flags), 0});
  for (std::size_t n = 1; n <= counts.size(); ++n) {
    if (counts[n - 1] == 0) continue;
    words[begin + 2] = static_cast<std::uint16_t>(words[begin + 2] | 1U << (n - 1));
    words.resize(words.size() + 2);
    write_count(&words[words.size() - 2], counts[n - 1]);
  }
  const std::uint64_t end = begin + tiles::words_of(&words[begin]);
  while (words.size() < end) words.push_back(next_word());
}

/// Counts up to `most` of a random set of sizes.
std::vector<std::uint32_t> random_counts(std::mt19937& random, std::uint32_t most) {
  std::vector<std::uint32_t> counts(kBundle);
  for (auto& count : counts)
    if (random() % 4 != 0) count = static_cast<std::uint32_t>(random()) % (most + 1);
  return counts;
}

TEST_CASE("the tiles of a graph come back") {
  auto pool = make_pool(2);
  std::mt19937 random(3);
  Edges graph(70000);
  const auto below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(random()) % end; };
  for (int e = 0; e < 150000; ++e) graph.add(below(300) * below(200), below(70000));
  for (std::uint32_t s = 0; s < 2000; ++s)  // runs, as a crawl has them
    for (std::uint32_t d = s; d < s + 40; ++d) graph.add(s, d);
  for (const std::size_t weight_bytes : {0U, 4U, 8U}) {
    CAPTURE(weight_bytes);
    const auto tiles = build(pool, graph, equal_columns(70000, 9000), weight_bytes);
    std::size_t all = 0, bytes = 0;
    for (std::size_t c = 0; c < tiles.columns(); ++c) {
      Words words;
      for (const auto part : tiles.column_data(c)) words.insert(words.end(), part.begin(), part.end());
      all += words.size() * sizeof(std::uint16_t);
      bytes += check_round_trip(words);
    }
    if (weight_bytes == 0) CHECK(bytes < all * 3 / 4);
  }
}

TEST_CASE("tiles of any words come back") {
  std::mt19937 random(5);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    Words words;
    const std::uint32_t bits = static_cast<std::uint32_t>(random()) % 17, most = round % 3 == 0 ? 300 : 3;
    for (auto left = 1 + random() % 5; left > 0; --left) {
      const unsigned weights = std::array<unsigned, 3>{0, kFloatWeights, kDoubleWeights}.at(random() % 3);
      add_tile(
          static_cast<std::uint16_t>(random()), weights | random() % 2, random_counts(random, most),
          [&] { return static_cast<std::uint16_t>(random() & ((1U << bits) - 1)); }, words);
    }
    check_round_trip(words);
  }
}

TEST_CASE("a code is never much larger than the words") {
  std::mt19937 random(6);
  Words words;
  add_tile(
      1, 0, {1}, [&] { return static_cast<std::uint16_t>(random()); }, words);
  CHECK(check_round_trip(words) == 20 + words.size() * 2);
  words.clear();
  add_tile(
      1, 1, std::vector<std::uint32_t>(kBundle, 1000), [&] { return static_cast<std::uint16_t>(random()); },
      words);
  CHECK(check_round_trip(words) <= 20 + words.size() * 2);
}

TEST_CASE("others that follow each other take hardly any bytes") {
  Words words;
  std::vector<std::uint32_t> counts(kBundle);
  counts.back() = 3800;
  std::uint16_t next = 0;
  add_tile(
      0, 1, counts, [&] { return next++; }, words);
  CHECK(check_round_trip(words) < words.size() * 2 / 20);
}

/// Calls `visit` with the bytes after each of several changes to each byte.
template <class Visit>
void each_damage(const std::vector<std::byte>& bytes, const Visit& visit) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const unsigned flip : {0x01U, 0x02U, 0x04U, 0x08U, 0x10U, 0x20U, 0x40U, 0x80U, 0xffU}) {
      auto damaged = bytes;
      damaged[i] ^= static_cast<std::byte>(flip);
      visit(damaged);
    }
  }
}

TEST_CASE("damaged codes stay within their arrays") {
  std::mt19937 random(7);
  const auto next_word = [&] {
    return static_cast<std::uint16_t>(random() % 8 == 0 ? random() % 5000 : random() % 9);
  };
  std::vector<std::uint32_t> wholes(kBundle);
  wholes.back() = 100;
  Words with_weights, without;
  add_tile(3, 0, {40, 30, 0, 2}, next_word, with_weights);
  add_tile(3, 1 | kFloatWeights, wholes, next_word, with_weights);
  add_tile(0, 0, wholes, next_word, without);
  for (const Words& words : {with_weights, without}) {
    std::vector<std::byte> code;
    encode_tiles(words, code);
    REQUIRE(code.size() < words.size() * 2);
    int other = 0;
    each_damage(code, [&](const auto& damaged) { other += decoded(damaged) != words; });
    CHECK(other > 0);
    for (std::size_t end = 0; end < code.size(); ++end)
      CHECK(decoded({code.begin(), code.begin() + static_cast<std::ptrdiff_t>(end)}) != words);
  }
}

TEST_CASE("damaged codes of numbers stay within their arrays") {
  constexpr std::size_t kNumbers = NumberReader::kMostTaken + NumberReader::kBlock;
  std::mt19937 random(9);
  Words numbers(kNumbers);
  for (auto& number : numbers)
    number = static_cast<std::uint16_t>(random() % 20 == 0 ? random() : random() % 3);
  std::vector<std::byte> code;
  encode_numbers(numbers, code);
  code.resize(code.size() + kNumberSlack);
  each_damage(code, [&](const auto& damaged) {
    const auto reader =
        std::make_unique<NumberReader>(std::span(damaged).first(damaged.size() - kNumberSlack));
    std::size_t taken = 0;
    for (const std::size_t some : {std::size_t{1}, NumberReader::kMostTaken, NumberReader::kBlock - 1})
      taken += reader->take(some) != nullptr ? some : 0;
    CHECK(taken <= kNumbers);
  });
}

TEST_CASE("numbers of any width come back, in pieces of any size") {
  std::mt19937 random(8);
  for (unsigned width = 0; width <= 16; ++width) {
    for (const std::size_t count : {1U, 127U, 128U, 129U, 5000U}) {
      for (const unsigned rare : {0U, 3U, 50U}) {  // one of so many is an exception
        CAPTURE(width);
        CAPTURE(count);
        CAPTURE(rare);
        Words numbers(count);
        for (auto& number : numbers)
          number = static_cast<std::uint16_t>(random() &
                                              ((1U << (rare != 0 && random() % rare == 0 ? 16 : width)) - 1));
        std::vector<std::byte> code;
        encode_numbers(numbers, code);
        const std::size_t bytes = code.size();
        code.resize(bytes + kNumberSlack);
        NumberReader reader({code.data(), bytes});
        Words taken;
        while (taken.size() < count) {
          const std::size_t some =
              std::min<std::size_t>(random() % (NumberReader::kMostTaken + 1), count - taken.size());
          const std::uint16_t* const next = reader.take(some);
          REQUIRE(next != nullptr);
          taken.insert(taken.end(), next, next + some);
        }
        CHECK(taken == numbers);
        CHECK(reader.take(NumberReader::kBlock) == nullptr);
      }
    }
  }
}

TEST_CASE("ones take one byte a block") {
  std::vector<std::byte> code;
  encode_numbers(Words(10 * NumberReader::kBlock, 1), code);
  CHECK(code.size() == 10);
}

}  // namespace
}  // namespace edgewire::tiles
