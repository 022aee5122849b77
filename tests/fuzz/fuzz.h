// The way tests feed damaged input to a reader: the files of its corpus as they are, and then inputs that are
// made of them. A run without EDGEWIRE_FUZZ_SECONDS takes the same inputs every time; with it, it goes on for
// that time with others.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "mutator.h"

/// Sanitizers call `last` before they end the process.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*last)());  // NOLINT: their name

namespace edgewire::fuzz {

/// Calls work(seed) for `least` seeds, the same ones every time; or, with EDGEWIRE_FUZZ_SECONDS, for others
/// as well, on and on. Returns their number.
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

/// The input of one call of a reader.
struct Input {
  std::string bytes;
  std::uint64_t turn = 0;  ///< number that chooses the options of reading
  bool again = false;      ///< whether it is the same bytes and turn once more
};

/// A reader under test, and the recipe of its inputs.
struct Reader {
  std::string name;  ///< name of its folder in tests/data/corpus, if it has one
  /// Reads the input, or throws an Error of one line. Returns the content in words, which is the same when
  /// read twice.
  std::function<std::string(const Input&)> read;
  std::vector<std::string> seeds = {};  ///< inputs beside those of the corpus
  std::uint64_t ways = 1;               ///< number of ways to read inputs: turn % ways chooses one
  /// May change an input, for instance to give it the checksums that belong to it.
  std::function<void(std::string&)> adapt = {};
  bool twice = true;           ///< whether the input is read a second time
  std::uint64_t inputs = 150;  ///< number of inputs of a run without EDGEWIRE_FUZZ_SECONDS
};

/// Returns the files of a reader, in the order of their names.
inline std::vector<std::filesystem::path> corpus(const std::string& reader) {
  const char* const data = std::getenv("EDGEWIRE_TEST_DATA");
  REQUIRE_MESSAGE(data != nullptr, "EDGEWIRE_TEST_DATA is the folder tests/data");
  std::vector<std::filesystem::path> files;
  if (const auto folder = std::filesystem::path(data) / "corpus" / reader; std::filesystem::exists(folder))
    for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

namespace detail {

constexpr unsigned kMostSeconds = 120;  // most seconds for one input, on a busy machine

/// Returns the line that names the input under way, should the process end.
inline std::string& last_line() {
  static std::string line;
  return line;
}
inline void say_last_line() {
  const std::string& line = last_line();
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}
inline void end_hung(int) {
  static constexpr std::string_view kWhy = "an input is read for too long\n";
  if (write(STDERR_FILENO, kWhy.data(), kWhy.size()) >= 0) say_last_line();
  abort();
}

/// A watch that names an input which crashes the process, or is read for too long, while it lives.
class Watch {
 public:
  explicit Watch(const std::string& line) {
    last_line() = line + "\n";
    if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(say_last_line);
    std::signal(SIGALRM, end_hung);
    alarm(kMostSeconds);
  }
  ~Watch() { alarm(0); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
};

/// Returns the reader's result for the input. A refusal has one line, and is none for want of memory: no
/// input here needs much.
inline std::string outcome(const Reader& reader, const Input& input) {
  try {
    return reader.read(input);
  } catch (const Error& error) {
    const std::string line = error.what();
    CHECK(!line.empty());
    CHECK(line.find('\n') == line.npos);
    CHECK(line.find("not enough memory") == line.npos);
    return "refused: " +
           line.substr(0, line.find(" MB of memory, "));  // the memory that is free differs from run to run
  }
}

inline void take(const Reader& reader, Input input, const std::string& what) {
  INFO(what);
  const Watch watch(what);
  const std::string first = outcome(reader, input);
  input.again = true;
  if (reader.twice) CHECK(outcome(reader, input) == first);
}

}  // namespace detail

/// Feeds the reader. A failure names the seed; EDGEWIRE_FUZZ_SAVE names a file that then gets the input of
/// the first seed.
inline void feed(const Reader& reader) {
  std::vector<std::string> seeds = reader.seeds;
  for (const auto& path : corpus(reader.name)) {
    std::ifstream file(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    for (std::uint64_t way = 0; way < reader.ways; ++way) {
      const std::uint64_t turn = way + reader.ways * (seeds.size() + way);
      detail::take(reader, {seeds.back(), turn}, path.string() + ", turn " + std::to_string(turn));
    }
  }
  REQUIRE(!seeds.empty());
  const char* save = std::getenv("EDGEWIRE_FUZZ_SAVE");
  const auto inputs = for_each_seed(reader.inputs, [&](std::uint64_t seed) {
    std::string bytes = Mutator(seed)(seeds);
    if (reader.adapt) reader.adapt(bytes);
    if (save != nullptr) std::ofstream(std::exchange(save, nullptr), std::ios::binary) << bytes;
    const auto size = std::to_string(bytes.size());
    detail::take(reader, {std::move(bytes), seed},
                 reader.name + ": EDGEWIRE_FUZZ_SEED=" + std::to_string(seed) + ", " + size + " bytes");
  });
  if (inputs > reader.inputs) MESSAGE(inputs << " inputs");
}

}  // namespace edgewire::fuzz
