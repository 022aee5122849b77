// A seeded mutator for tests that feed damaged input to a reader, and the seeds of tests. A run without
// EDGEWIRE_FUZZ_SECONDS takes the same inputs every time; with it, it goes on for so long with others.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace edgewire::fuzz {

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// One of the seeds with one to four changes.
  std::string operator()(const std::vector<std::string>& seeds) {
    std::string text = seeds[below(seeds.size())];
    for (std::size_t left = 1 + below(4); left > 0; --left) change(text, seeds);
    return text;
  }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }

  void change(std::string& text, const std::vector<std::string>& seeds) {
    using namespace std::string_view_literals;
    static constexpr std::array<std::string_view, 24> kTokens = {
        "0",          "-1",    "18446744073709551616",
        "4294967296", "1e400", "nan",
        "-",          ".",     "1.5",
        "999999",     " ",     "\t",
        "\n",         "\r",    "\"",
        ",",          "#",     "%",
        "/",          ";",     "p ",
        "e ",         "\0"sv,  "\xff"};
    const std::size_t at = below(text.size() + 1), rest = text.size() - at;
    switch (below(7)) {
      case 0:  // a bit
        if (rest > 0) text[at] = static_cast<char>(text[at] ^ 1 << below(8));
        break;
      case 1:  // a byte
        if (rest > 0) text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.insert(at, kTokens[below(kTokens.size())]);
        break;
      case 3:  // less
        text.erase(at, 1 + below(16));
        break;
      case 4:  // the same twice
        text.insert(at, text.substr(below(text.size() + 1), below(64)));
        break;
      case 5:  // an end that is missing
        text.resize(at);
        break;
      default: {  // a piece of another input
        const std::string& other = seeds[below(seeds.size())];
        text.replace(at, std::min(rest, below(32)), other.substr(below(other.size() + 1), below(32)));
      }
    }
  }

  std::mt19937_64 random_;
};

/// Calls work(seed) for so many seeds, the same ones every time; or, with EDGEWIRE_FUZZ_SECONDS, for others
/// as well, on and on. Returns how many there were.
inline std::uint64_t for_each_seed(std::uint64_t least, const std::function<void(std::uint64_t)>& work) {
  const char* const seconds = std::getenv("EDGEWIRE_FUZZ_SECONDS");
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds(seconds == nullptr ? 0 : std::atoi(seconds));
  const char* const seed = std::getenv("EDGEWIRE_FUZZ_SEED");
  const std::uint64_t first = seed != nullptr      ? std::strtoull(seed, nullptr, 10)
                              : seconds == nullptr ? 1
                                                   : std::random_device()();
  std::uint64_t number = 0;
  for (; number < least || std::chrono::steady_clock::now() < end; ++number) work(first + number);
  return number;
}

/// Feeds mutations of the seeds to read(), which takes them or throws an Error of one line. `adapt` may
/// change an input, for instance where it asks for more memory than a test should take.
inline void feed(
    const std::vector<std::string>& seeds, const std::function<void(const std::string&)>& read,
    const std::function<void(std::string&)>& adapt = [](std::string&) {}) {
  constexpr std::uint64_t kInputs = 150;
  for_each_seed(kInputs, [&](std::uint64_t seed) {
    std::string input = Mutator(seed)(seeds);
    adapt(input);
    INFO("seed " << seed << ", " << input.size() << " bytes");
    try {
      read(input);
    } catch (const Error& error) {
      const std::string_view line = error.what();
      CHECK(!line.empty());
      CHECK(line.find('\n') == line.npos);
    }
  });
}

}  // namespace edgewire::fuzz
