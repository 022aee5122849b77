#include "graph/convert.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/random.h"
#include "graph/generator.h"
#include "graph_inputs.h"

namespace edgewire::graph {

using namespace std::string_literals;

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
    // Two compressed files one after the other hold what both hold; of one alone a text and a binary will do.
    [[maybe_unused]] const bool alone = name == "g.txt" || name == "g.sg";
    if (alone) forms.emplace_back(name + ".gz", gzipped(bytes));
    forms.emplace_back(name + ".gz", gzipped(bytes.substr(0, 5)) + gzipped(bytes.substr(5)));
    if (alone) forms.emplace_back(name, gzipped(bytes));  // the content decides
#ifdef EDGEWIRE_ZSTD
    if (alone) forms.emplace_back(name + ".zst", zstandard(bytes));
    forms.emplace_back(name + ".zst", zstandard(bytes.substr(0, 9)) + zstandard(bytes.substr(9)));
#endif
#ifdef EDGEWIRE_LZMA
    if (alone) forms.emplace_back(name + ".xz", xz(bytes));
    forms.emplace_back(name + ".xz", xz(bytes.substr(0, 7)) + xz(bytes.substr(7)));
#endif
#ifdef EDGEWIRE_BZIP2
    if (alone) forms.emplace_back(name + ".bz2", bzip2(bytes));
    forms.emplace_back(name + ".bz2", bzip2(bytes.substr(0, 8)) + bzip2(bytes.substr(8)));
#endif
    for (const auto& [form, content] : forms) {
      const Graph graph = converter(form, content);
      CHECK(graph.vertices() == kVertices);
      CHECK(graph.weighted() == weighted);
      CHECK(edges_of(graph) == (weighted ? kEdges : without_weights(kEdges)));
      CHECK(graph.has_original_ids() == contains(name, "mtx"));
      CHECK(graph.original_id(3) == (contains(name, "mtx") ? 4 : 3));
    }
    CHECK(edges_of(converter(name, bytes, {.weights = false})) == without_weights(kEdges));
    CHECK(converter(name, bytes, {.simple = true, .undirected = true}).symmetric());
  }
}

TEST_CASE("edges in order become the same graph as in disorder, from any number of workers") {
  const Converter converter;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges;
  for (std::uint64_t i = 0; i < 150'000; ++i) {  // text of some pieces; rows of one edge and of many
    IndexedRandom random(2, i);
    const std::uint64_t source = random.below(4) == 0 ? random.below(20'000) : random.below(20);
    edges.emplace_back(source * 3, random.below(20'000) * 3);
  }
  const auto text = [&] {
    std::string lines;
    for (const auto& [source, target] : edges) lines += fmt::format("{} {}\n", source, target);
    return lines;
  };
  converter("g.txt", text(), {.workers = 1});
  const std::string bytes = converter.output_bytes();
  std::sort(edges.begin(), edges.end());
  for (const int workers : {1, 2, 4}) {
    converter("g.txt", text(), {.workers = workers});
    CHECK(converter.output_bytes() == bytes);
  }
}

TEST_CASE("sparse ids are renumbered in ascending order") {
  const Converter converter;
  const Graph small = converter("g.txt", "10 7\n7 1000\n");
  CHECK(edges_of(small) == std::vector<Edge>{{0, 2, 0}, {1, 0, 0}});
  CHECK(small.original_id(0) == 7);
  CHECK(small.original_id(2) == 1000);
  const Graph large = converter("g.txt", "18446744073709551615 0\n5000000000 18446744073709551615");
  CHECK(edges_of(large) == std::vector<Edge>{{1, 2, 0}, {2, 0, 0}});
  CHECK(large.original_id(2) == 18446744073709551615U);
  const Graph gap = converter("g.el", "10 7\n");
  CHECK(gap.vertices() == 11);
  CHECK_FALSE(gap.has_original_ids());
  const ConvertOptions empty = {.allow_empty = true};
  CHECK(converter("g.txt", "# nothing\n", empty).vertices() == 0);
  CHECK(converter("g.txt", "", empty).vertices() == 0);
  CHECK(converter("g.u32", "", empty).vertices() == 0);
  CHECK(converter("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n", empty).vertices() ==
        3);
}

TEST_CASE("few ids among many become vertices alone, unless ids are to be kept") {
  const Converter converter;
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  for (const auto& file : std::vector<std::pair<std::string, std::string>>{
           {"g.el", "7 4000000000\n7 5\n"},
           {"g.wel", "7 4000000000 1\n7 5 2\n"},
           {"g.u32", std::string("\x07\0\0\0\x00\x28\x6b\xee\x07\0\0\0\x05\0\0\0", 16)},
           {"g.mtx", banner + "pattern general\n4000000000 4000000000 2\n7 4000000000\n7 5\n"},
           {"g.gr", "p sp 4000000000 2\na 7 4000000000 1\na 7 5 2\n"}}) {
    const auto& [name, text] = file;
    CAPTURE(file.first);
    const Graph graph = converter(name, text, {.weights = false});
    CHECK(edges_of(graph) == std::vector<Edge>{{1, 0, 0}, {1, 2, 0}});
    REQUIRE(graph.has_original_ids());
    CHECK(graph.original_id(0) == 5);
    CHECK(graph.original_id(1) == 7);
    CHECK(graph.original_id(2) == 4000000000);
  }
  // Both ways, with the sign of each.
  const Graph skew =
      converter("g.mtx", banner + "real skew-symmetric\n4000000000 4000000000 1\n4000000000 7 2.5\n");
  CHECK(edges_of(skew) == std::vector<Edge>{{0, 1, -2.5}, {1, 0, 2.5}});
  CHECK(contains(converter.error("g.mtx", banner + "pattern general\n4000000000 4000000000 2\n7 5\n"),
                 "the file has 1 entries but its size line says 2"));
  const std::string wide = "7 2000000\n";
  CHECK(converter("g.el", wide).vertices() == 2);
  for (const auto& file : std::vector<std::pair<std::string, std::string>>{
           {"g.el", wide}, {"g.txt", wide}, {"g.csv", "source,target\n7,2000000\n"}}) {
    const auto& [name, text] = file;
    CAPTURE(file.first);
    const Graph all = converter(name, text, {.keep_ids = true});
    CHECK(all.vertices() == 2000001);
    CHECK_FALSE(all.has_original_ids());
    CHECK(edges_of(all) == std::vector<Edge>{{7, 2000000, 0}});
  }
  CHECK(converter("g.mtx", banner + "pattern general\n2000000 2000000 1\n7 5\n", {.keep_ids = true})
            .vertices() == 2000000);
  const std::string path = converter.directory() / "g.txt";
  const auto refusal = [&](const std::string& text, const ConvertOptions& options) {
    write_file(path, text);
    return error_of([&] { convert(path, converter.directory() / "out.ew", options); });
  };
  if (!kIds64)
    CHECK(contains(refusal("1 5000000000\n", {.keep_ids = true}),
                   "vertex id 5000000000 is larger than the 4294967293 that is supported with --keep-ids"
                   "; edgewire-wide, which is built with -Did_bits=64, takes more"));
  CHECK(contains(refusal("1 2\n", {.labels = true, .keep_ids = true}), "--keep-ids"));
}

TEST_CASE("vertices that no edge names") {
  const Converter converter;
  const std::string path = converter.directory() / "g.v";
  write_file(path, "# ids\n3\n7\n\n1000\n5000000000 ignored\n1");
  const Graph graph = converter("g.e", "10 7\n7 1000\n", {.workers = 2, .vertices = path});
  CHECK(edges_of(graph) == std::vector<Edge>{{2, 4, 0}, {3, 2, 0}});
  CHECK(graph.vertices() == 6);
  CHECK(graph.original_id(5) == 5000000000);
  CHECK(converter("g.e", "", {.vertices = path, .allow_empty = true}).vertices() == 5);
  write_file(path, "1\nx\n");
  CHECK(error_of([&] {
          convert(converter.directory() / "g.e", converter.directory() / "o.ew", {.vertices = path});
        }) == path + ": line 2, column 1: expected a vertex id (a whole number)");
  CHECK(contains(error_of([&] { converter("g.el", "1 2\n", {.vertices = path}); }), "--vertices"));
}

TEST_CASE("the graph of an archive") {
  const Converter converter;
  const std::string archive = tar({{"g/", ""},
                                   {"g/README", std::string(1000, 'x')},
                                   {"g/g_b.mtx", "not this one"},
                                   {"g/g.mtx", matrix_market(true)},
                                   {"g/more.txt", "ignored"}});
  for (const std::string& form : {archive, gzipped(archive), xz(archive), bzip2(archive)}) {
    if (form.empty()) continue;
    const Graph graph = converter("g.tar.gz", form, {.format = Format::matrix_market});
    CHECK(edges_of(graph) == kEdges);
  }
  const std::string konect =
      tar({{"deep/g/meta.g", "?"}, {"./deep/g/out.g", "% asym\n" + edge_lines(true, 0)}});
  CHECK(edges_of(converter("g.tar", konect, {.format = Format::snap})) == kEdges);
}

TEST_CASE("large files are the same from any number of workers, however their ids are spread") {
  const Converter converter;
  // The same edges with ids close together, less so (workers share a bitmap), far apart (sorted set instead
  // of a bitmap), and beyond 32 bits.
  for (const std::uint64_t spread : {1ULL, 50ULL, 3'000ULL, 5'000'000'007ULL}) {
    std::string text = "# a\n";
    for (std::uint64_t i = 0; i < 60'000; ++i) {
      IndexedRandom random(1, i);
      text += fmt::format("{} {} {}\n", random.below(20'000) * spread, random.below(20'000) * spread, i % 10);
    }
    const Graph one = converter("g.txt", text, {.workers = 1});
    CHECK(one.edges() == 60'000);
    CHECK(one.vertices() <= 20'000);
    CHECK(one.original_id(100) % spread == 0);
    const std::string bytes = converter.output_bytes();
    for (const int workers : {2, 4}) {
      converter("g.txt", text, {.workers = workers});
      CHECK(converter.output_bytes() == bytes);
    }
    converter("g.txt", gzipped(text), {.workers = 3});
    CHECK(converter.output_bytes() == bytes);
  }
}

TEST_CASE("symmetric matrices are stored both ways") {
  const Converter converter;
  const std::string text =
      "%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 4\n2 2 5\n3 2 -6\n";
  const Graph graph = converter("g.mtx", text);
  CHECK(graph.symmetric());
  CHECK(edges_of(graph) == std::vector<Edge>{{0, 1, 4}, {1, 0, 4}, {1, 1, 5}, {1, 2, -6}, {2, 1, -6}});
}

TEST_CASE("skew-symmetric, complex and Hermitian matrices") {
  const Converter converter;
  const std::string skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 4\n3 2 -6\n";
  const Graph graph = converter("g.mtx", skew);
  CHECK_FALSE(graph.symmetric());  // the weights are not
  CHECK(edges_of(graph) == std::vector<Edge>{{0, 1, -4}, {1, 0, 4}, {1, 2, 6}, {2, 1, -6}});
  CHECK(converter("g.mtx", skew, {.weights = false}).symmetric());
  CHECK(converter("g.mtx", skew, {.weights = false}).edges() == 4);
  const auto complex = [](const std::string& symmetry) {
    return "%%MatrixMarket matrix coordinate complex " + symmetry + "\n3 3 2\n2 1 0 4\n3 3 nan 1\n";
  };
  CHECK(edges_of(converter("g.mtx", complex("general"), {.weights = false})) ==
        std::vector<Edge>{{1, 0, 0}, {2, 2, 0}});
  CHECK(edges_of(converter("g.mtx", complex("hermitian"), {.weights = false})) ==
        std::vector<Edge>{{0, 1, 0}, {1, 0, 0}, {2, 2, 0}});
}

TEST_CASE("an undirected serialized graph must be one") {
  const Converter converter;
  std::string bytes = "\0"s;
  append(bytes, std::int64_t{4});
  append(bytes, std::int64_t{3});
  for (const std::int64_t offset : {0, 1, 3, 4}) append(bytes, offset);
  for (const std::int32_t target : {1, 0, 2, 1}) append(bytes, target);
  const Graph graph = converter("g.sg", bytes, {.undirected = true});
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
  const Graph graph = converter("copy.ew", whole, {.weights = false, .simple = true, .undirected = true});
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

TEST_CASE("matrices of SciPy and Fortran have their weights") {
  const Converter converter;
  const auto edges = [&](const std::string& kind, const std::string& lines,
                         const ConvertOptions& options = {}) {
    const auto count = std::count(lines.begin(), lines.end(), '\n');
    return edges_of(
        converter("g.mtx", fmt::format("%%MatrixMarket matrix coordinate {}\n3 3 {}\n{}", kind, count, lines),
                  options));
  };
  CHECK(edges("unsigned-integer general", "1 2 4294967295\n2 3 3\n") ==
        std::vector<Edge>{{0, 1, 4294967295.0F}, {1, 2, 3}});
  CHECK(edges("double general", "1 2 1.5\n") == std::vector<Edge>{{0, 1, 1.5}});
  const std::vector<Edge> powers = {{0, 1, 1000}, {0, 2, 0.25}, {1, 2, -20}, {2, 0, 3e10}};
  CHECK(edges("real general", "1 2 1.0D+03\n1 3 2.5d-1\n2 3 -2D1\n3 1 3d10\n") == powers);
  CHECK(edges("real general", "1 2 1.0E+03\n1 3 2.5e-1\n2 3 -2E1\n3 1 3e10\n") == powers);
  const std::vector<Edge> skew = {{0, 1, -3}, {1, 0, 3}, {1, 1, 0}};
  for (const char* const zero : {"0", "0.0", "-0", "+0.", "0.0D+00", "0e9"})
    CHECK(edges("real skew-symmetric", fmt::format("2 1 3\n2 2 {}\n", zero)) == skew);
  CHECK(edges("complex skew-symmetric", "2 1 3 4\n2 2 0 0.0\n", {.weights = false}) == without_weights(skew));
  CHECK(edges("integer skew-symmetric", "2 1 3\n2 2 0\n", {.weights = false}) == without_weights(skew));
  CHECK(converter.output_bytes() == [&] {
    edges("integer skew-symmetric", "2 1 3\n2 2 0\n", {.weights = false, .workers = 3});
    return converter.output_bytes();
  }());
  const auto error = [&](const std::string& weight) {
    return converter.error("g.txt", "0 1 " + weight + "\n");
  };
  for (const char* const weight : {"1.5D", "D3", "1D2D3", "1dx", "2.5E3D1"})
    CHECK(error(weight) == "line 1, column 5: expected a weight (a number); --no-weights reads no weights");
  CHECK(contains(error("1D999"), "beyond the range of 64-bit numbers"));
  std::string note;
  ConvertOptions told;
  told.note = [&](const std::string& line) { note = line; };
  converter("g.txt", "0 1 1.23456789012345678901D+03\n", told);
  CHECK(contains(note, "line 1: weight 1.23456789012345678901D+03 is kept as 1234.56789012345"));
}

}  // namespace edgewire::graph
