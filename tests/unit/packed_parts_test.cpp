#include "graph/read/decompress.h"

#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "graph/read/input.h"
#include "graph_inputs.h"

namespace edgewire::graph {

namespace {

std::string many_lines(std::uint64_t count) {
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) {
    IndexedRandom random(7, i);
    text += fmt::format("{} {}\n", random.below(5000), random.below(5000));
    if (i % 1000 == 500) text += "# " + std::string(random.below(300), 'x') + "\n";
  }
  return text;
}

/// Whatever a file is packed in, and by however many workers it is read, the graph is that of the plain text.
void check_same(const Converter& converter, const std::string& text, const std::string& packed) {
  if (packed.empty()) return;
  converter("g.txt", text, {.workers = 1});
  const std::string expected = converter.output_bytes();
  for (const int workers : {1, 2, 4}) {
    converter("g.txt", packed, {.workers = workers});
    CHECK(converter.output_bytes() == expected);
  }
}

#ifdef EDGEWIRE_ZSTD
std::string frames(const std::string& text, std::size_t bytes) {
  std::string packed;
  for (std::size_t at = 0; at < text.size(); at += bytes) packed += zstandard(text.substr(at, bytes));
  return packed;
}
#endif

/// Returns what is read of a file with this name and these bytes.
std::string plain_of(const char* name, const std::string& bytes) {
  const TemporaryDirectory folder;
  const std::string path = folder / name;
  write_file(path, bytes);
  Input input(path);
  return std::string(input.peek());
}

}  // namespace

TEST_CASE("packed parts: pairs of ids that begin like packed data are read as they are") {
  using namespace std::string_literals;
  const std::string more = "\0\1\0\0\3\0\0\0\4\0\0\0"s;
  for (const std::string& first : {"\x1F\x8B\0\0"s, "\x1F\x8B\x08\0"s, "BZh1"s, "\x50\x2A\x4D\x18"s}) {
    const std::string part = first + more;
    const std::string pairs = fmt::format("{0}{0}", part);
    for (const char* const name : {"g.u32pairs", "g"}) {
      CHECK(plain_of(name, pairs) == pairs);
      CHECK(plain_of(name, part) == part);
      for (const std::string& packed :
           {gzipped(pairs), bgzf(pairs), zstandard(pairs), xz(pairs), bzip2(pairs)})
        if (!packed.empty()) CHECK(plain_of(name, packed) == pairs);
#ifdef EDGEWIRE_ZSTD
      CHECK(plain_of(name, "\x50\x2A\x4D\x18\4\0\0\0skip"s + zstandard(pairs)) == pairs);
#endif
    }
  }
  CHECK_THROWS_WITH_AS(plain_of("g.gz", "\x1F\x8B\0\0"s + more),
                       doctest::Contains("the gzip data is damaged"), Error);
}

TEST_CASE("packed parts: blocks of BGZF of any size") {
  const Converter converter;
  const std::string text = many_lines(200'000);  // some pieces
  check_same(converter, text, bgzf(text));
  check_same(converter, text, bgzf(text, 4096));
  const std::string few = many_lines(2000);
  for (const std::size_t bytes : {1, 7, 100, 65280}) check_same(converter, few, bgzf(few, bytes));
  check_same(converter, few + "8 9", bgzf(few + "8 9", 300));  // no line end
}

TEST_CASE("packed parts: lines that are longer than parts and pieces") {
  const Converter converter;
  const std::string text = "1 2\n# " + std::string(3'000'000, 'x') + "\n2 3\n" + many_lines(100'000);
  check_same(converter, text, bgzf(text));
}

TEST_CASE("packed parts: other members, padding and archives behind or inside") {
  const Converter converter;
  const std::string text = many_lines(100'000);
  const std::string half = text.substr(0, text.size() / 2), rest = text.substr(text.size() / 2);
  check_same(converter, text, bgzf(half) + gzipped(rest));
  check_same(converter, text, gzipped(half) + bgzf(rest));
  check_same(converter, text, bgzf(half) + gzipped(rest) + bgzf(""));
  check_same(converter, text, bgzf(text) + std::string(1000, '\0'));
  CHECK(contains(converter.error("g.txt", bgzf(text) + "garbage"), "the gzip data is damaged"));
  const Graph graph = converter("g.mtx", bgzf(tar({{"g/g.mtx", matrix_market(false)}}), 700),
                                {.format = Format::matrix_market});
  CHECK(edges_of(graph) == without_weights(kEdges));
}

TEST_CASE("packed parts: Zstandard frames that say how much they hold") {
#ifdef EDGEWIRE_ZSTD
  const Converter converter;
  const std::string text = many_lines(200'000);
  for (const std::size_t bytes : {10'000, 700'000, 100'000'000})
    check_same(converter, text, frames(text, bytes));
  // A frame that is skipped before each, as pzstd writes them.
  const std::string skipped("\x50\x2A\x4D\x18\x04\0\0\0\x01\x02\x03\x04", 12);
  check_same(converter, text, skipped + zstandard(text));
  check_same(converter, text,
             skipped + zstandard(text.substr(0, 1000)) + skipped + zstandard(text.substr(1000)));
  std::string damaged = frames(text, 10'000);
  damaged[zstandard(text.substr(0, 10'000)).size()] ^= 1;  // of the second frame's magic number
  CHECK(contains(converter.error("g.txt", damaged, {.workers = 2}), "the Zstandard data is damaged"));
  CHECK(contains(converter.error("g.txt", frames(text, 10'000).substr(0, 50'000), {.workers = 2}),
                 "cut short"));
#endif
}

TEST_CASE("packed parts: a wrong line is named as in the plain file, with any number of workers") {
  const Converter converter;
  std::string text = many_lines(300'000);
  const std::size_t at = text.find('\n', text.size() / 3 * 2) + 1;
  text.insert(at, "1 -1\n");
  text.insert(text.find('\n', text.size() / 10 * 9) + 1, "x\n");
  const std::string expected = converter.error("g.txt", text, {.workers = 1});
  CHECK(contains(expected, "column 3: a vertex id is negative"));
  for (const int workers : {1, 2, 4})
    CHECK(converter.error("g.txt", bgzf(text), {.workers = workers}) == expected);
}

TEST_CASE("packed parts: damaged blocks are named by their offset") {
  const Converter converter;
  const std::string text = many_lines(100'000);
  const std::string whole = bgzf(text, 10'000);
  const std::size_t second =
      1 + (static_cast<unsigned char>(whole[16]) | static_cast<unsigned char>(whole[17]) << 8);
  for (const int workers : {1, 2, 4}) {
    const auto error = [&](const std::string& bytes) {
      return converter.error("g.txt", bytes, {.workers = workers});
    };
    const auto changed = [&](std::size_t at, int bit = 1) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ bit);
      return error(bytes);
    };
    const std::string place = fmt::format("byte {}: the gzip data is damaged", second);
    CHECK(contains(changed(second + 200), place));
    CHECK(contains(changed(second + 16), place));         // a wrong length
    CHECK(contains(changed(second + 17, 0x80), "byte"));  // far behind
    const std::size_t third = second + 1 +
                              (static_cast<unsigned char>(whole[second + 16]) |
                               static_cast<unsigned char>(whole[second + 17]) << 8);
    CHECK(contains(changed(third - 8), place + " (incorrect data check)"));
    CHECK(contains(changed(third - 4), place));      // how much it holds
    CHECK(contains(changed(third - 2), "damaged"));  // more than a block can
    CHECK(contains(changed(third), "damaged"));
    for (const std::size_t length : {second + 1, second + 17, third - 1, whole.size() - 29, whole.size() - 1})
      CHECK(contains(error(whole.substr(0, length)), "cut short"));
  }
}

}  // namespace edgewire::graph
