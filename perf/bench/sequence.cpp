#include "perf/bench/sequence.h"

#include <fmt/core.h>

#include <cctype>
#include <cerrno>
#include <fstream>
#include <random>

#include "base/error.h"

namespace edgewire::bench {

std::string read_fasta(const std::string& path) {
  std::ifstream file(path);
  const auto refuse = [&](std::size_t line, const std::string& why) {
    throw Error(fmt::format("{}:{}: {}", path, line, why));
  };
  std::string letters, line;
  bool begun = false;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.starts_with('>')) {
      if (begun) break;
      begun = true;
    } else if (!begun && !line.empty()) {
      refuse(number, "this is no FASTA file: it does not begin with a line of > and a name");
    } else {
      for (const char letter : line) {
        if (std::isalpha(static_cast<unsigned char>(letter)) == 0 && letter != '*')
          refuse(number, fmt::format("a sequence has letters only, not the byte {}",
                                     static_cast<unsigned char>(letter)));
        letters.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(letter))));
      }
    }
  }
  if (!file.is_open() || file.bad()) throw Error(fmt::format("{}: cannot read: {}", path, reason(errno)));
  if (letters.empty()) throw Error(fmt::format("{}: it holds no sequence", path));
  return letters;
}

std::pair<std::string, std::string> related_sequences(std::size_t letters, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto letter = [&] { return "ACGT"[random() % 4]; };
  std::string a, b;
  while (a.size() < letters) a.push_back(letter());
  for (const char one : a) {
    const auto chance = random() % 100;
    if (chance == 0) continue;
    if (chance == 1) b.push_back(letter());
    b.push_back(chance < 12 ? letter() : one);
  }
  if (b.empty()) b.push_back(letter());
  return {std::move(a), std::move(b)};
}

}  // namespace edgewire::bench
