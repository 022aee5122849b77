#include "graph/convert.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include <sys/stat.h>

#ifdef EDGEWIRE_ZLIB
#include <zlib.h>
#endif
#ifdef EDGEWIRE_ZSTD
#include <zstd.h>
#endif

#include "graph/generator.h"
#include "graph/random.h"
#include "graph_test.h"

namespace edgewire::graph {

using namespace std::string_literals;

namespace {

std::string gzipped([[maybe_unused]] const std::string& plain) {
#ifdef EDGEWIRE_ZLIB
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, plain.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
#else
  return {};
#endif
}

std::string zstandard([[maybe_unused]] const std::string& plain) {
#ifdef EDGEWIRE_ZSTD
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  return packed;
#else
  return {};
#endif
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// The ways to write one graph of 6 vertices, none of them without edges. Weights are whole numbers.
constexpr std::uint32_t kVertices = 6;
const std::vector<Edge> kEdges = {{0, 1, 5}, {0, 3, 1}, {1, 1, 2}, {2, 5, -4},
                                  {2, 5, 9}, {4, 0, 0}, {5, 2, 7}};

std::string edge_lines(bool weighted, std::uint32_t first_id, char separator = ' ',
                       const char* line_end = "\n") {
  std::string text;
  for (const auto& [source, target, weight] : kEdges) {
    text += fmt::format("{}{}{}", source + first_id, separator, target + first_id);
    if (weighted) text += fmt::format("{}{}", separator, weight);
    text += line_end;
  }
  return text;
}

std::string gap_binary(bool weighted) {
  std::string bytes;
  append(bytes, std::uint8_t{1});
  append(bytes, static_cast<std::int64_t>(kEdges.size()));
  append(bytes, std::int64_t{kVertices});
  for (int direction = 0; direction < 2; ++direction) {
    std::vector<Edge> edges = kEdges;
    for (auto& [source, target, weight] : edges) {
      if (direction == 1) std::swap(source, target);
    }
    std::sort(edges.begin(), edges.end());
    for (std::uint32_t v = 0; v <= kVertices; ++v) {
      append(bytes, std::int64_t{std::count_if(edges.begin(), edges.end(),
                                               [&](const Edge& edge) { return std::get<0>(edge) < v; })});
    }
    for (const auto& [source, target, weight] : edges) {
      append(bytes, target);
      if (weighted) append(bytes, static_cast<std::int32_t>(weight));
    }
  }
  return bytes;
}

std::string u32_pairs() {
  std::string bytes;
  for (const auto& [source, target, weight] : kEdges) {
    append(bytes, source);
    append(bytes, target);
  }
  return bytes;
}

std::string matrix_market(bool weighted) {
  return fmt::format("%%MatrixMarket matrix coordinate {} general\r\n% a comment\n\n {} {} {}\n",
                     weighted ? "Real" : "pattern", kVertices, kVertices, kEdges.size()) +
         edge_lines(weighted, 1);
}

std::vector<Edge> without_weights(std::vector<Edge> edges) {
  for (auto& [source, target, weight] : edges) weight = 0;
  return edges;
}

/// Writes `bytes` as NAME, converts it and opens the result.
class Converter {
 public:
  GraphFile operator()(const std::string& name, const std::string& bytes, ConvertOptions options = {}) const {
    write_file(directory_ / name, bytes);
    convert(directory_ / name, directory_ / "out.ew", options);
    return GraphFile::open(directory_ / "out.ew");
  }
  /// The message with which it must be refused, without the path; nothing may be left behind.
  std::string error(const std::string& name, const std::string& bytes,
                    const ConvertOptions& options = {}) const {
    const std::string path = directory_ / name;
    write_file(path, bytes);
    std::filesystem::remove(directory_ / "out.ew");
    const std::string message = error_of([&] { convert(path, directory_ / "out.ew", options); });
    std::filesystem::remove(path);
    CHECK(directory_.files() == 0);
    REQUIRE(message.starts_with(path + ": "));
    CHECK(!contains(message, "\n"));
    return message.substr(path.size() + 2);
  }
  std::string output_bytes() const { return read_file(directory_ / "out.ew"); }
  const TemporaryDirectory& directory() const { return directory_; }

 private:
  TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("every format tells the same graph, plain and compressed") {
  const Converter converter;
  const std::string snap = "# comment\n\n% comment\n" + edge_lines(true, 0, '\t');
  const std::vector<std::tuple<std::string, std::string, bool>> files = {
      {"g.txt", snap, true},
      {"g.csv", edge_lines(true, 0, ','), true},
      {"g.tsv", edge_lines(false, 0, '\t', "\r\n"), false},
      {"g.edges", edge_lines(false, 0, ' ', " \n\n"), false},
      {"g.el", edge_lines(false, 0), false},
      {"g.wel", edge_lines(true, 0), true},
      {"g.sg", gap_binary(false), false},
      {"g.wsg", gap_binary(true), true},
      {"g.u32", u32_pairs(), false},
      {"g.mtx", matrix_market(false), false},
      {"w.mtx", matrix_market(true), true}};
  for (const auto& [file, bytes, weighted] : files) {
    const std::string name = file;
    CAPTURE(name);
    std::vector<std::pair<std::string, std::string>> forms = {{name, bytes}};
#ifdef EDGEWIRE_ZLIB
    forms.emplace_back(name + ".gz", gzipped(bytes));
    forms.emplace_back(name + ".gz", gzipped(bytes.substr(0, 5)) + gzipped(bytes.substr(5)));
    forms.emplace_back(name, gzipped(bytes));  // the content decides
#endif
#ifdef EDGEWIRE_ZSTD
    forms.emplace_back(name + ".zst", zstandard(bytes));
    forms.emplace_back(name + ".zst", zstandard(bytes.substr(0, 9)) + zstandard(bytes.substr(9)));
#endif
    for (const auto& [form, content] : forms) {
      const GraphFile graph = converter(form, content);
      CHECK(graph.vertices() == kVertices);
      CHECK(graph.weighted() == weighted);
      CHECK(edges_of(graph) == (weighted ? kEdges : without_weights(kEdges)));
      CHECK(graph.has_original_ids() == contains(name, "mtx"));
      CHECK(graph.original_id(3) == (contains(name, "mtx") ? 4 : 3));
      CHECK(edges_of(converter(form, content, {.weights = false})) == without_weights(kEdges));
      CHECK(converter(form, content, {.simple = true, .undirected = true}).symmetric());
    }
  }
}

TEST_CASE("sparse ids are renumbered in ascending order") {
  const Converter converter;
  const GraphFile small = converter("g.txt", "10 7\n7 1000\n");
  CHECK(edges_of(small) == std::vector<Edge>{{0, 2, 0}, {1, 0, 0}});
  CHECK(small.original_id(0) == 7);
  CHECK(small.original_id(2) == 1000);
  const GraphFile large = converter("g.txt", "18446744073709551615 0\n5000000000 18446744073709551615");
  CHECK(edges_of(large) == std::vector<Edge>{{1, 2, 0}, {2, 0, 0}});
  CHECK(large.original_id(2) == 18446744073709551615U);
  const GraphFile gap = converter("g.el", "10 7\n");
  CHECK(gap.vertices() == 11);
  CHECK_FALSE(gap.has_original_ids());
  CHECK(converter("g.txt", "# nothing\n").vertices() == 0);
  CHECK(converter("g.txt", "").vertices() == 0);
  CHECK(converter("g.u32", "").vertices() == 0);
  CHECK(converter("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n").vertices() == 3);
}

TEST_CASE("large files are the same from any number of workers, however their ids are spread") {
  const Converter converter;
  // The same edges with ids close together, far apart (sorted set instead of a bitmap), and beyond 32 bits.
  for (const std::uint64_t spread : {1ULL, 3'000ULL, 5'000'000'007ULL}) {
    std::string text = "# a\n";
    for (std::uint64_t i = 0; i < 60'000; ++i) {
      IndexedRandom random(1, i);
      text += fmt::format("{} {} {}\n", random.below(20'000) * spread, random.below(20'000) * spread, i % 10);
    }
    const GraphFile one = converter("g.txt", text, {.workers = 1});
    CHECK(one.edges() == 60'000);
    CHECK(one.vertices() <= 20'000);
    CHECK(one.original_id(100) % spread == 0);
    const std::string bytes = converter.output_bytes();
    for (int workers = 2; workers <= 4; ++workers) {
      converter("g.txt", text, {.workers = workers});
      CHECK(converter.output_bytes() == bytes);
    }
#ifdef EDGEWIRE_ZLIB
    converter("g.txt", gzipped(text), {.workers = 3});
    CHECK(converter.output_bytes() == bytes);
#endif
  }
}

TEST_CASE("symmetric matrices are stored both ways") {
  const Converter converter;
  const std::string text =
      "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 4\n2 2 5\n3 2 -6\n";
  const GraphFile graph = converter("g.mtx", text);
  CHECK(graph.symmetric());
  CHECK(edges_of(graph) == std::vector<Edge>{{0, 1, 4}, {1, 0, 4}, {1, 1, 5}, {1, 2, -6}, {2, 1, -6}});
}

TEST_CASE("an undirected serialized graph must be one") {
  const Converter converter;
  std::string bytes = "\0"s;
  append(bytes, std::int64_t{4});
  append(bytes, std::int64_t{3});
  for (const std::int64_t offset : {0, 1, 3, 4}) append(bytes, offset);
  for (const std::int32_t target : {1, 0, 2, 1}) append(bytes, target);
  const GraphFile graph = converter("g.sg", bytes, {.undirected = true});
  CHECK(graph.symmetric());
  CHECK(edges_of(graph) == std::vector<Edge>{{0, 1, 0}, {1, 0, 0}, {1, 2, 0}, {2, 1, 0}});
  bytes[bytes.size() - 4] = 0;
  CHECK(contains(converter.error("g.sg", bytes), "one direction only"));
}

TEST_CASE("our own format can be made simple and undirected") {
  const Converter converter;
  const std::string path = converter.directory() / "g.ew";
  build(path, kVertices, kEdges, {.weighted = true}, {1, 2, 3, 5, 8, 13});
  const std::string whole = read_file(path);
  converter("copy.ew", whole);
  CHECK(converter.output_bytes() == whole);
  const GraphFile graph = converter("copy.ew", whole, {.weights = false, .simple = true, .undirected = true});
  CHECK(graph.edges() == 8);
  CHECK(graph.simple());
  CHECK(graph.symmetric());
  CHECK(graph.original_id(5) == 13);
  build(path, 2, {{0, 1, 0}, {1, 0, 0}}, {.simple = true});
  const std::string both_ways = read_file(path);
  CHECK_FALSE(converter("copy.ew", both_ways, {.undirected = true}).simple());
  CHECK(converter("copy.ew", both_ways, {.simple = true, .undirected = true}).edges() == 2);
  const std::string before = converter.output_bytes();
  converter("copy.ew", before);
  CHECK(converter.output_bytes() == before);
}

TEST_CASE("bad lines are named by line and byte") {
  const Converter converter;
  CHECK(converter.error("g.txt", "1 2\n3 -4\n") == "line 2, byte 6: a vertex id is negative");
  CHECK(converter.error("g.txt", "# c\n1 2\nx 4\n") ==
        "line 3, byte 8: expected a vertex id (a whole number)");
  CHECK(converter.error("g.txt", "1 2\n3\n") == "line 2, byte 5: the line ends where a vertex id should be");
  CHECK(converter.error("g.txt", "1 2\n3") == "line 2, byte 5: the line ends where a vertex id should be");
  CHECK(contains(converter.error("g.txt", "1 18446744073709551616\n"),
                 "line 1, byte 2: the vertex id does not fit"));
  CHECK(contains(converter.error("g.txt", "1 99999999999999999999999\n"), "does not fit 64 bits"));
  CHECK(contains(converter.error("g.txt", "1.5 2\n"), "expected a vertex id"));
  CHECK(contains(converter.error("g.txt", "source,target\n1,2\n"), "line 1, byte 0: expected a vertex id"));
  CHECK(contains(converter.error("g.txt", "1 2 3\n4 5\n"), "line 2, byte 9: the weight is missing"));
  CHECK(contains(converter.error("g.txt", "1 2\n4 5 6\n"),
                 "line 2, byte 8: expected nothing after the target"));
  CHECK(contains(converter.error("g.txt", "1 2 3 4\n"), "expected nothing after the weight"));
  CHECK(contains(converter.error("g.txt", "1 2 nan\n"), "byte 4: the weight is not a finite"));
  CHECK(contains(converter.error("g.txt", "1 2 -inf\n"), "not a finite"));
  CHECK(contains(converter.error("g.txt", "1 2 1e39\n"), "not a finite"));
  CHECK(contains(converter.error("g.txt", "1 2 1e999\n"), "not a finite"));
  CHECK(contains(converter.error("g.txt", "1 2 3x\n"), "expected a weight"));
  CHECK(contains(converter.error("g.txt", "1 2 3\n4 5 abc\n"), "expected a weight"));
  CHECK(contains(converter.error("g.wel", "1 2\n"), "the weight is missing"));
  CHECK(contains(converter.error("g.el", "1 2 3\n"), "expected nothing"));
  CHECK(contains(converter.error("g.el", "1 4294967294\n"),
                 "byte 2: vertex id 4294967294 is not within 0 to 4294967293"));
  CHECK(edges_of(converter("g.txt", "1 2 nan what\n", {.weights = false})).size() == 1);
  CHECK(contains(converter.error("g.txt", std::string("1 2\n\0 4\n", 8)), "line 2, byte 4"));
}

TEST_CASE("of several bad lines the first is named, whatever the number of workers") {
  const Converter converter;
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += i == 150'000 || i == 390'000 ? "1 x\n" : "1 2\n";
  const std::string compressed = gzipped(text);
  for (int workers = 1; workers <= 4; ++workers) {
    const std::string expected = "line 150001, byte 600002: expected a vertex id (a whole number)";
    CHECK(converter.error("g.txt", text, {.workers = workers}) == expected);
    if (!compressed.empty()) CHECK(converter.error("g.txt", compressed, {.workers = workers}) == expected);
  }
}

TEST_CASE("matrices that are not graphs are refused in words") {
  const Converter converter;
  const auto error = [&](const std::string& banner, const std::string& rest) {
    return converter.error("g.mtx", "%%MatrixMarket " + banner + "\n" + rest);
  };
  CHECK(contains(error("matrix array real general", "2 2\n1\n"), "'array' is not supported"));
  CHECK(contains(error("matrix coordinate complex general", ""), "'complex' is not supported"));
  CHECK(contains(error("matrix coordinate real skew-symmetric", ""), "'skew-symmetric' is not supported"));
  CHECK(contains(error("matrix coordinate complex hermitian", ""), "not supported"));
  CHECK(contains(error("matrix coordinate real", ""), "symmetry '' is not supported"));
  const std::string usual = "matrix coordinate pattern general";
  CHECK(contains(error(usual, "2 3 1\n1 1\n"), "line 2, byte 49: a matrix of 2 x 3 is not square"));
  CHECK(contains(error(usual, "% only\n"), "ends before its size line"));
  CHECK(contains(error(usual, "2 2\n"), "ROWS COLUMNS ENTRIES"));
  CHECK(contains(error(usual, "2 2 1 1\n"), "nothing after"));
  CHECK(contains(error(usual, "2 2 -1\n"), "ROWS COLUMNS ENTRIES"));
  CHECK(contains(error(usual, "2 2 2\n1 1\n"), "has 1 entries but its size line says 2"));
  CHECK(contains(error(usual, "2 2 1\n1 1\n1 2\n"), "has 2 entries"));
  CHECK(contains(error(usual, "2 2 1\n0 1\n"), "line 3, byte 55: vertex id 0 is not within 1 to 2"));
  CHECK(contains(error(usual, "2 2 1\n1 3\n"), "vertex id 3 is not within 1 to 2"));
  CHECK(contains(error(usual, "2 2 99999999999\n1 1\n"), "too short for 99999999999 entries"));
  CHECK(
      contains(error(usual, "99999999999 99999999999 1\n1 1\n"), "more rows or entries than are supported"));
  CHECK(contains(error(usual, "4000000000 4000000000 1\n1 1\n"), "of memory"));
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
  CHECK(contains(converter.error("g.bin", u32_pairs() + "\xFF\xFF\xFF\xFF\0\0\0\0"s),
                 "byte 56: vertex id 4294967295"));
}

TEST_CASE("damaged compressed files are refused") {
  const Converter converter;
  const std::string plain = edge_lines(true, 0);
  for (const std::string& whole : {gzipped(plain), zstandard(plain)}) {
    if (whole.empty()) continue;
    for (std::size_t length = 4; length < whole.size(); ++length) {
      CHECK(contains(converter.error("g.txt", whole.substr(0, length)), "cut short"));
    }
    CHECK(contains(converter.error("g.txt", whole + "garbage"), "damaged"));
  }
#ifdef EDGEWIRE_ZLIB
  std::string damaged = gzipped(plain);
  damaged[damaged.size() - 8] ^= 1;  // its CRC
  CHECK(contains(converter.error("g.txt", damaged), "damaged (incorrect data check)"));
#endif
}

TEST_CASE("unusual files and names are refused with one line") {
  const Converter converter;
  const TemporaryDirectory& directory = converter.directory();
  const std::string out = directory / "out.ew";
  CHECK_THROWS_AS(convert(directory / "g.xyz", out, {}), UsageError);
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
  for (std::uint64_t i = 0; i < 1500; ++i) {
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
      CHECK_NOTHROW(edges_of(GraphFile::open(converter.directory() / "out.ew")));
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(refused > 300);
  CHECK(refused < 1470);
}

}  // namespace edgewire::graph
