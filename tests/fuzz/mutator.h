// Seeded changes to the bytes of files and messages. They know lines, numbers and words of 1 to 8 bytes, and
// combine several inputs.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace edgewire::fuzz {

using namespace std::string_view_literals;

/// Numbers at the limits of types, and texts that are no numbers.
inline constexpr std::array kOddNumbers{"0"sv,
                                        "-0"sv,
                                        "00"sv,
                                        "1"sv,
                                        "-1"sv,
                                        "+1"sv,
                                        "1.5"sv,
                                        ".5"sv,
                                        "1e3"sv,
                                        "255"sv,
                                        "65536"sv,
                                        "999999"sv,
                                        "16777217"sv,
                                        "2147483647"sv,
                                        "2147483648"sv,
                                        "4294967294"sv,
                                        "4294967295"sv,
                                        "4294967296"sv,
                                        "9007199254740993"sv,
                                        "9223372036854775807"sv,
                                        "9223372036854775808"sv,
                                        "18446744073709551615"sv,
                                        "18446744073709551616"sv,
                                        "99999999999999999999999999"sv,
                                        "1e308"sv,
                                        "1e400"sv,
                                        "-1e400"sv,
                                        "1e-400"sv,
                                        "4.9e-324"sv,
                                        "1D+03"sv,
                                        "nan"sv,
                                        "-inf"sv,
                                        "0x10"sv,
                                        "1e"sv,
                                        "-"sv,
                                        ""sv};
inline constexpr std::array kOddTexts{" "sv,
                                      "\t"sv,
                                      "\n"sv,
                                      "\r"sv,
                                      "\r\n"sv,
                                      "\n\n"sv,
                                      "\""sv,
                                      "\"\""sv,
                                      ","sv,
                                      ";"sv,
                                      "|"sv,
                                      "#"sv,
                                      "# "sv,
                                      "%"sv,
                                      "%%"sv,
                                      "//"sv,
                                      "/"sv,
                                      ":"sv,
                                      "="sv,
                                      "p "sv,
                                      "a "sv,
                                      "sep="sv,
                                      "\0"sv,
                                      "\xff"sv,
                                      "\xC3\xA9"sv,
                                      "\xEF\xBB\xBF"sv,
                                      "\xFF\xFE"sv,
                                      "{"sv,
                                      "["sv,
                                      "]"sv,
                                      "}"sv,
                                      "null"sv,
                                      "\xED\xA0\x80"sv,
                                      "."sv,
                                      "["sv,
                                      "\x1F\x8B"sv};
inline constexpr std::array<std::uint64_t, 16> kOddWords{0,
                                                         1,
                                                         2,
                                                         0x7F,
                                                         0x80,
                                                         0xFF,
                                                         0x7FFF,
                                                         0x8000,
                                                         0xFFFF,
                                                         0x7FFF'FFFF,
                                                         0x8000'0000,
                                                         0xFFFF'FFFE,
                                                         0xFFFF'FFFF,
                                                         std::uint64_t{1} << 32,
                                                         std::uint64_t{1} << 63,
                                                         ~std::uint64_t{0}};

class Mutator {
 public:
  static constexpr std::size_t kMostBytes = 1 << 17;

  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// Returns one of the seeds with one to four changes, or up to sixteen.
  std::string operator()(const std::vector<std::string>& seeds) {
    std::string text = pick(seeds);
    for (std::size_t left = 1 + below(below(8) == 0 ? 16 : 4); left > 0; --left) change(text, seeds);
    if (text.size() > kMostBytes) text.resize(kMostBytes);
    return text;
  }

 private:
  std::size_t below(std::size_t end) {
    return std::uniform_int_distribution<std::size_t>(0, end - 1)(random_);
  }
  template <class Items>
  const typename Items::value_type& pick(const Items& items) {
    return items[below(items.size())];
  }
  /// The part [begin, end) of a text.
  struct Range {
    std::size_t begin, end;
    std::size_t size() const { return end - begin; }
  };

  Range line_of(const std::string& text) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t before = at == 0 ? text.npos : text.rfind('\n', at - 1);
    const std::size_t end = text.find('\n', at);
    return {before == text.npos ? 0 : before + 1, end == text.npos ? text.size() : end + 1};
  }
  /// Returns a number of the text: the first one from a random place on.
  Range number_of(const std::string& text) {
    const std::size_t begin = std::min(text.find_first_of("0123456789", below(text.size() + 1)), text.size());
    return {begin, std::min(text.find_first_not_of("0123456789.", begin), text.size())};
  }

  void change(std::string& text, const std::vector<std::string>& seeds) {
    if (below(3) == 0)
      change_structure(text, seeds);
    else
      change_bytes(text, seeds);
  }

  void change_bytes(std::string& text, const std::vector<std::string>& seeds) {
    const std::size_t at = below(text.size() + 1), rest = text.size() - at;
    switch (below(9)) {
      case 0:  // a bit
        if (rest > 0) text[at] = static_cast<char>(text[at] ^ 1 << below(8));
        break;
      case 1:  // a byte
        if (rest > 0) text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.insert(at, below(2) == 0 ? pick(kOddTexts) : pick(kOddNumbers));
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
      case 6: {  // a word of 1, 2, 4 or 8 bytes
        const std::uint64_t word = pick(kOddWords) + below(3) - 1;
        const std::size_t bytes = std::size_t{1} << below(4);
        for (std::size_t i = 0; i < bytes && at + i < text.size(); ++i)
          text[at + i] = static_cast<char>(word >> 8 * i);
        break;
      }
      case 7: {  // a piece of another input
        const std::string& other = pick(seeds);
        text.replace(at, std::min(rest, below(32)), other.substr(below(other.size() + 1), below(32)));
        break;
      }
      default: {  // the end of another input
        const std::string& other = pick(seeds);
        text.replace(at, rest, other.substr(below(other.size() + 1)));
      }
    }
  }

  void change_structure(std::string& text, const std::vector<std::string>& seeds) {
    const Range line = line_of(text), other = line_of(text), number = number_of(text);
    switch (below(9)) {
      case 0:
      case 1:
      case 2:
        text.replace(number.begin, number.size(), pick(kOddNumbers));
        break;
      case 3:
        text.insert(other.begin, text.substr(line.begin, line.size()));
        break;
      case 4:  // lines that change places
        if (line.begin < other.begin) {
          const std::string first = text.substr(line.begin, line.size());
          const std::string second = text.substr(other.begin, other.size());
          text.replace(other.begin, other.size(), first);
          text.replace(line.begin, line.size(), second);
        } else {
          text.erase(line.begin, line.size());
        }
        break;
      case 5: {  // a line of another input
        const std::string& from = pick(seeds);
        const Range theirs = line_of(from);
        text.insert(other.begin, from.substr(theirs.begin, theirs.size()));
        break;
      }
      case 6:  // the ends of lines of Windows
        for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 2))
          text.insert(at, "\r");
        break;
      case 7:
        text.insert(0, pick(std::array{"\xEF\xBB\xBF"sv, "\n"sv, "# "sv, "\xFF\xFE"sv, " "sv}));
        break;
      default: {  // a long word
        const char fill = pick(std::array{'0', '9', 'x', ' ', '"', '\0', ','});
        text.insert(number.begin, std::string(below(4) == 0 ? 70'000 : 1 + below(400), fill));
      }
    }
  }

  std::mt19937_64 random_;
};

}  // namespace edgewire::fuzz
