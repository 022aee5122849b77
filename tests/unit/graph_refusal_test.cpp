#include "graph/convert.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include <sys/stat.h>

#include "base/random.h"
#include "graph_inputs.h"

namespace edgewire::graph {

using namespace std::string_literals;

TEST_CASE("bad lines are named by line and column") {
  const Converter converter;
  CHECK(converter.error("g.txt", "1 2\n3 -4\n") == "line 2, column 3: a vertex id is negative");
  CHECK(converter.error("g.txt", "# c\n1 2\nx 4\n") ==
        "line 3, column 1: expected a vertex id (a whole number); --labels reads names");
  CHECK(converter.error("g.txt", "1 2\n3\n") ==
        "line 2, column 2: the line ends where a vertex id should be (METIS graphs are read with --format "
        "metis)");
  CHECK(contains(converter.error("g.txt", "1 2\n3"),
                 "line 2, column 2: the line ends where a vertex id should be"));
  CHECK(contains(converter.error("g.txt", "1 18446744073709551616\n"),
                 "line 1, column 3: the vertex id does not fit"));
  CHECK(contains(converter.error("g.txt", "1 99999999999999999999999\n"), "does not fit 64 bits"));
  CHECK(contains(converter.error("g.txt", "1.5 2\n"), "expected a vertex id"));
  CHECK(contains(converter.error("g.txt", "1 2 3\n4 5\n"), "line 2, column 4: the weight is missing"));
  CHECK(contains(converter.error("g.txt", "1 2\n4 5 6\n"),
                 "line 2, column 1: 3 fields where each edge of this file has 2"));
  CHECK(contains(converter.error("g.txt", "# c\n1 2 3 4\n"), "line 2, column 1: 4 fields; an edge list has"));
  CHECK(contains(converter.error("g.txt", "1 2 3\n1 2 3 4\n"), "line 2, column 1: 4 fields where"));
  CHECK(contains(converter.error("g.txt", "1 2 3\n1 2\n", {.weights = false}),
                 "line 2, column 1: 2 fields where"));
  CHECK(contains(converter.error("g.txt", "1 2 nan\n"), "column 5: the weight is not a finite"));
  CHECK(contains(converter.error("g.txt", "1 2 -inf\n"), "not a finite"));
  CHECK(contains(converter.error("g.txt", "1 2 1e309\n"), "beyond the range of 64-bit"));
  CHECK(contains(converter.error("g.txt", "1 2 1e-999\n"), "beyond the range of 64-bit"));
  CHECK(contains(converter.error("g.txt", "1 2 3x\n"), "expected a weight"));
  CHECK(contains(converter.error("g.txt", "1 2 3\n4 5 abc\n"), "expected a weight"));
  CHECK(contains(converter.error("g.wel", "1 2\n"), "the weight is missing"));
  CHECK(contains(converter.error("g.el", "1 2 3\n"), "3 fields where each edge of this file has 2"));
  CHECK(contains(converter.error("g.wel", "1 2 x\n1 2\n", {.weights = false}), "line 2, column 1: 2 fields"));
  if (!kIds64)
    CHECK(contains(converter.error("g.el", "1 4294967294\n"),
                   "column 3: vertex id 4294967294 is not within 0 to 4294967293"));
  CHECK(edges_of(converter("g.txt", "1 2 nan what\n", {.weights = false})).size() == 1);
  CHECK(contains(converter.error("g.txt", std::string("1 2\n\0 4\n", 8)), "line 2, column 1"));
}

TEST_CASE("a line that holds a name where a number should be says how names are read") {
  const Converter converter;
  const std::string at_edge = "line 2, column 3: expected a vertex id (a whole number)";
  for (const char* const name : {"alice", "P12345", "10.1103/PhysRev", "12cells", "\xC3\x89va", "\"bob\""}) {
    CHECK(contains(converter.error("g.txt", fmt::format("1 2\n3 {}\n", name)),
                   at_edge + "; --labels reads names"));
    CHECK(contains(converter.error("g.txt", fmt::format("1 {}\n", name)),
                   "line 1, column 3: expected a vertex id (a whole number); --labels reads names"));
    CHECK(converter.error("g.el", fmt::format("1 2\n3 {}\n", name)) == at_edge);
    CHECK(edges_of(converter("g.txt", fmt::format("1 2\n3 {}\n", name), {.labels = true})).size() == 2);
  }
  for (const char* const number : {"1.5", "1e5", "0x1F", "nan", "+3", "1;2"})
    CHECK(converter.error("g.txt", fmt::format("1 2\n3 {}\n", number)) == at_edge);
}

TEST_CASE("of several bad lines the first is named, whatever the number of workers") {
  const Converter converter;
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += i == 150'000 || i == 390'000 ? "1 x\n" : "1 2\n";
  const std::string compressed = gzipped(text);
  for (int workers = 1; workers <= 4; ++workers) {
    const std::string expected =
        "line 150001, column 3: expected a vertex id (a whole number); --labels reads names";
    CHECK(converter.error("g.txt", text, {.workers = workers}) == expected);
    if (!compressed.empty()) CHECK(converter.error("g.txt", compressed, {.workers = workers}) == expected);
  }
}

TEST_CASE("matrices that are not graphs are refused in words") {
  const Converter converter;
  const auto error = [&](const std::string& banner, const std::string& rest) {
    return converter.error("g.mtx", "%%MatrixMarket " + banner + "\n" + rest);
  };
  CHECK(contains(error("matrix array real general", "2 2\n1\n"), "'array' is a dense matrix"));
  CHECK(contains(error("matrix coordinate complex general", ""), "but this matrix is complex; --no-weights"));
  CHECK(contains(error("matrix coordinate complex hermitian", ""), "complex; --no-weights"));
  CHECK(contains(error("matrix coordinate real hermitian", ""), "symmetry 'hermitian' is not supported"));
  CHECK(contains(error("matrix coordinate quaternion general", ""), "field 'quaternion' is not supported"));
  CHECK(contains(error("matrix coordinate real skew-symmetric", "2 2 1\n2 2 3\n"),
                 "line 3, column 1: an entry on the diagonal"));
  CHECK(contains(error("matrix coordinate pattern skew-symmetric", "2 2 1\n2 2\n"),
                 "an entry on the diagonal"));
  CHECK(contains(error("matrix coordinate real", ""), "symmetry '' is not supported"));
  const std::string usual = "matrix coordinate pattern general";
  CHECK(contains(error(usual, "2 3 1\n1 1\n"), "line 2, column 1: a matrix of 2 x 3 is not square"));
  CHECK(contains(error(usual, "% only\n"), "ends before its size line"));
  CHECK(contains(error(usual, "2 2\n"), "ROWS COLUMNS ENTRIES"));
  CHECK(contains(error(usual, "2 2 1 1\n"), "nothing after"));
  CHECK(contains(error(usual, "2 2 -1\n"), "ROWS COLUMNS ENTRIES"));
  CHECK(contains(error(usual, "2 2 2\n1 1\n"), "has 1 entries but its size line says 2"));
  CHECK(contains(error(usual, "2 2 1\n1 1\n1 2\n"), "has 2 entries"));
  CHECK(contains(error(usual, "2 2 1\n0 1\n"),
                 "line 3, column 1: vertex id 0 is not within 1 to 2; this format counts vertices from 1"));
  CHECK(contains(error(usual, "2 2 1\n1 3\n"), "vertex id 3 is not within 1 to 2"));
  CHECK(contains(error(usual, "2 2 99999999999\n1 1\n"), "too short for 99999999999 entries"));
  CHECK(contains(error(usual, "999999999999999 999999999999999 1\n1 1\n"),
                 "more vertices or edges than are supported"));
  const std::string far = "%%MatrixMarket " + usual + "\n4000000000 4000000000 1\n1 1\n";
  CHECK(contains(converter.error("g.mtx", far, {.keep_ids = true}), "needs about 64000 MB of memory, "));
  CHECK(contains(converter.error("g.mtx", "1 2\n"), "does not begin with %%MatrixMarket"));
  CHECK(contains(converter.error("g.mtx", ""), "the file is empty"));
}

TEST_CASE("binary files of wrong size or content are refused, also when compressed") {
  const Converter converter;
  for (const bool weighted : {false, true}) {
    const std::string name = weighted ? "g.wsg" : "g.sg";
    const std::string whole = gap_binary(weighted);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      CHECK(contains(converter.error(name, whole.substr(0, length)), "byte "));
#ifdef EDGEWIRE_ZSTD
      CHECK(contains(converter.error(name, zstandard(whole.substr(0, length))), "byte "));
#endif
    }
    CHECK(contains(converter.error(name, whole + "x"), "bytes but"));
#ifdef EDGEWIRE_ZSTD
    CHECK(contains(converter.error(name, zstandard(whole + "x")), "goes on after its end"));
#endif
    const auto with = [&](std::size_t offset, auto value) {
      std::string bytes = whole;
      std::memcpy(bytes.data() + offset, &value, sizeof value);
      return bytes;
    };
    CHECK(contains(converter.error(name, with(0, std::uint8_t{2})), "byte 0: the first byte"));
    CHECK(contains(converter.error(name, with(1, std::int64_t{-1})), "byte 1: "));
    CHECK(contains(converter.error(name, with(9, std::int64_t{-1})), "byte 9: "));
    CHECK(contains(converter.error(name, with(9, std::int64_t{1} << 31)), "bytes but"));
    CHECK(contains(converter.error(name, with(17, std::int64_t{1})), "byte 17: row offsets"));
    CHECK(contains(converter.error(name, with(17 + 8, std::int64_t{6})), "byte 33: row offsets"));
    CHECK(contains(converter.error(name, with(17 + 48, std::int64_t{9})), "byte 65: the last row offset"));
    CHECK(contains(converter.error(name, with(73, std::int32_t{-1})), "byte 73: target -1"));
    CHECK(contains(converter.error(name, with(73, std::int32_t{6})), "byte 73: target 6"));
#ifdef EDGEWIRE_ZSTD
    const std::string lies = with(1, std::int64_t{1} << 40);
    CHECK(contains(converter.error(name, zstandard(lies)), "last row offset"));
    CHECK(contains(converter.error(name, zstandard(with(9, std::int64_t{1} << 24))), "the file ends early"));
#endif
  }
  CHECK(contains(converter.error("g.bin", u32_pairs().substr(3)), "byte 53: the file ends within a record"));
  if (!kIds64)
    CHECK(contains(converter.error("g.bin", u32_pairs() + "\xFF\xFF\xFF\xFF\0\0\0\0"s),
                   "byte 56: vertex id 4294967295"));
}

TEST_CASE("damaged compressed files are refused") {
  const Converter converter;
  const std::string plain = edge_lines(true, 0);
  for (const std::string& whole : {gzipped(plain), zstandard(plain), xz(plain), bzip2(plain)}) {
    if (whole.empty()) continue;
    for (std::size_t length = 6; length < whole.size(); ++length) {
      CHECK(contains(converter.error("g.txt", whole.substr(0, length)), "cut short"));
    }
    CHECK(contains(converter.error("g.txt", whole + "garbage, and more"), "damaged"));
  }
  std::string damaged = gzipped(plain);
  damaged[damaged.size() - 8] ^= 1;  // its CRC
  CHECK(contains(converter.error("g.txt", damaged), "damaged (incorrect data check)"));
}

TEST_CASE("archives without one graph, damaged or cut short are refused") {
  const Converter converter;
  const auto error = [&](const std::string& archive) {
    return converter.error("g.tar", archive, {.format = Format::matrix_market});
  };
  CHECK(contains(error(tar({{"a.mtx", ""}, {"g/b.mtx", ""}})),
                 "holds no NAME/NAME.mtx or NAME/out.NAME, but a.mtx, g/b.mtx; unpack it"));
  CHECK(contains(error(tar({{"g/", ""}})), "but no file"));
  const std::string whole = tar({{"g/README", "x"}, {"g/g.mtx", matrix_market(true)}});
  CHECK(contains(error(whole.substr(0, 512 + 100)), "cut short"));
  CHECK(contains(error(whole.substr(0, 2 * 512 + 100)), "but g/README"));
  CHECK(contains(error(whole.substr(0, 3 * 512 + 50)), "ends within g/g.mtx"));
  std::string damaged = whole;
  damaged[1024 + 2] = 'G';
  CHECK(contains(error(damaged), "its tar header is damaged"));
  std::string packed = gzipped(whole);
  packed[packed.size() - 8] ^= 1;
  CHECK(contains(error(packed), "damaged (incorrect data check)"));
  CHECK(contains(error(tar({{"g/g.mtx", "1 2\n"}})),
                 "g/g.mtx: line 1, column 1: the first line does not begin with"));
}

TEST_CASE("unusual files and names are refused with one line") {
  const Converter converter;
  const TemporaryDirectory& directory = converter.directory();
  const std::string out = directory / "out.ew";
  CHECK(contains(error_of([&] { convert(directory / "g.txt", out, {}); }), "No such file"));
  CHECK(
      contains(error_of([&] { convert(directory / ".", out, {.format = Format::snap}); }), "Is a directory"));
  REQUIRE(mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK(contains(error_of([&] { convert(directory / "pipe", out, {.format = Format::snap}); }),
                 "not a regular file"));
  write_file(directory / "g.txt", "1 2\n");
  CHECK(contains(error_of([&] { convert(directory / "g.txt", directory / "g.txt", {}); }), "the same file"));
  CHECK(directory.files() == 2);
}

TEST_CASE("mutated files are read or refused, never worse") {
  const Converter converter;
  const std::string snap = "# c\n" + edge_lines(true, 8, '\t');
  // Not the formats whose largest id is the number of vertices: a changed digit would rightly need gigabytes.
  const std::vector<std::pair<std::string, std::string>> files = {{"g.txt", snap},
                                                                  {"g.tsv", edge_lines(true, 0)},
                                                                  {"g.mtx", matrix_market(true)},
                                                                  {"g.sg", gap_binary(false)},
                                                                  {"g.wsg", gap_binary(true)},
                                                                  {"g.txt", gzipped(snap)},
                                                                  {"g.txt", zstandard(snap)},
                                                                  {"g.sg", zstandard(gap_binary(false))}};
  const std::string alphabet = "0123456789 \t\n,.-+e#%naif\r\0\xFF\x80"s;
  std::uint64_t refused = 0;
  for (std::uint64_t i = 0; i < 500; ++i) {
    IndexedRandom random(2024, i);
    const auto& [name, original] = files[random.below(files.size())];
    std::string bytes = original;
    for (std::uint64_t change = random.below(4) + 1; change > 0 && !bytes.empty(); --change) {
      const std::uint64_t at = random.below(bytes.size());
      const char byte = random.below(2) == 0 ? alphabet[random.below(alphabet.size())]
                                             : static_cast<char>(random.below(256));
      switch (random.below(4)) {
        case 0:
          bytes.insert(at, 1, byte);
          break;
        case 1:
          bytes.erase(at, random.below(8));
          break;
        default:
          bytes[at] = byte;
      }
    }
    write_file(converter.directory() / name, bytes);
    CAPTURE(i);
    try {
      convert(converter.directory() / name, converter.directory() / "out.ew",
              {.simple = random.below(2) == 0, .workers = 1 + static_cast<int>(random.below(2))});
      CHECK_NOTHROW(edges_of(Graph::open(converter.directory() / "out.ew")));
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 100);
  CHECK(refused < 490);
}

}  // namespace edgewire::graph
