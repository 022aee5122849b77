#include "graph/read/formats.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "graph/convert.h"
#include "graph_inputs.h"

namespace edgewire::graph {

using namespace std::string_literals;

namespace {

const std::vector<Edge> kTriangleAndTail = {{0, 1, 2}, {0, 2, 3}, {1, 0, 2}, {1, 2, 5},
                                            {2, 0, 3}, {2, 1, 5}, {2, 3, 7}, {3, 2, 7}};

/// METIS: a size, a weight and edge weights for each vertex where `format` says so; the last of 5 vertices is
/// alone.
std::string metis(const std::string& format, const std::string& line_end = "\n") {
  const bool sizes = format.size() == 3 && format[0] == '1';
  const bool weights = format.size() >= 2 && format[format.size() - 2] == '1';
  const bool edges = format.ends_with('1');
  std::string text = "% a comment" + line_end + "5 4" + (format.empty() ? "" : " " + format) + line_end;
  for (std::uint32_t v = 0; v < 5; ++v) {
    if (v == 2) text += "% another" + line_end;
    std::string line;
    if (sizes) line += "77 ";
    if (weights) line += "99 ";
    for (const auto& [source, target, weight] : kTriangleAndTail) {
      if (source == v) line += fmt::format(" {}", target + 1) + (edges ? fmt::format(" {}", weight) : "");
    }
    text += line + line_end;
  }
  return text;
}

}  // namespace

TEST_CASE("METIS files with and without sizes and weights") {
  const Converter converter;
  for (const std::string format : {"", "0", "1", "001", "10", "11", "011", "100", "101", "110", "111"}) {
    CAPTURE(format);
    for (const std::string line_end : {"\n", "\r\n"}) {
      const Graph graph = converter("g.graph", metis(format, line_end));
      const bool weighted = format.ends_with('1');
      CHECK(graph.vertices() == 5);
      CHECK(graph.weighted() == weighted);
      CHECK(graph.symmetric());
      CHECK(edges_of(graph) == (weighted ? kTriangleAndTail : without_weights(kTriangleAndTail)));
      CHECK(graph.original_id(0) == 1);
    }
  }
  CHECK_FALSE(converter("g.graph", metis("11"), {.weights = false}).weighted());
  // Three weights for each vertex.
  CHECK(edges_of(converter("g.graph", "2 1 011 3\n7 7 7 2 5\n8 8 8 1 5\n")) ==
        std::vector<Edge>{{0, 1, 5}, {1, 0, 5}});
  // The last line, of a vertex without neighbours, is not there. What follows the lines is blank.
  CHECK(converter("g.metis", "3 1\n2\n1\n").vertices() == 3);
  CHECK(converter("g.metis", "3 1\n\n3\n2").vertices() == 3);
  CHECK(converter("g.metis", "2 1\n2\n1\n\n \n").vertices() == 2);
  CHECK(converter("g.metis", "0 0\n", {.allow_empty = true}).vertices() == 0);
  CHECK(converter("g.metis", "1 0", {.allow_empty = true}).vertices() == 1);
}

TEST_CASE("a large METIS file is the same from any number of workers") {
  const Converter converter;
  constexpr int kRing = 100'000;
  std::string text = fmt::format("{} {}\n", kRing, kRing);
  for (int v = 0; v < kRing; ++v) {
    if (v % 1000 == 0) text += "% comment\n";
    text += fmt::format("{} {}\n", (v + kRing - 1) % kRing + 1, (v + 1) % kRing + 1);
  }
  const Graph one = converter("g.graph", text, {.workers = 1});
  CHECK(one.targets()[one.offsets()[54'321]] == 54'320);
  const std::string bytes = converter.output_bytes();
  converter("g.graph", gzipped(text), {.workers = 3});
  if (!gzipped(text).empty()) CHECK(converter.output_bytes() == bytes);
}

TEST_CASE("METIS files that are wrong are refused") {
  const Converter converter;
  const auto error = [&](const std::string& text) { return converter.error("g.graph", text); };
  CHECK(contains(error("3 2\n2\n1 4\n2\n"), "line 3, column 3: neighbour 4 is not within 1 to 3"));
  CHECK(contains(error("3 2\n2\n1 0\n2\n"), "line 3, column 3: neighbour 0: METIS counts vertices from 1"));
  CHECK(contains(
      error("3 2\n1\n0 2\n1\n"),
      "line 2, column 1: neighbour 1: METIS counts vertices from 1, but this file seems to count from 0"));
  CHECK(contains(error("3 2 11\n% c\n0 1 5\n7 0 5 2 5\n0 1 5\n"),
                 "line 3, column 3: neighbour 1: METIS counts"));
  CHECK(contains(error("3 2 11\n0 2 5\n7 1 5 2 5\n0 2 5\n"),
                 "line 3, column 7: a vertex is its own neighbour"));
  CHECK(contains(error("3 2\n2\n1 x\n2\n"), "line 3, column 3: expected a neighbour"));
  CHECK(contains(error("3 2\n2\n1 -3\n2\n"), "expected a neighbour"));
  CHECK(contains(error("3 2\n2\n2 3\n2\n"), "line 3, column 1: a vertex is its own neighbour"));
  CHECK(contains(error("3 2\n2\n1 3\n1\n"), "in the line of one of its ends"));
  CHECK(contains(error("2 1 1\n2 5\n1 6\n"), "two weights"));
  CHECK(contains(error("2 1 1\n2\n1 6\n"), "line 2, column 2: the weight of the last edge is missing"));
  CHECK(contains(error("2 1 1\n2 a\n1 a\n"), "expected a weight"));
  CHECK(edges_of(converter("g.graph", "2 1 1\n2 a\n1 b\n", {.weights = false})).size() == 2);
  CHECK(contains(error("2 1 10\n\n4 1\n"), "line 2, column 1: the line ends where a size or weight"));
  CHECK(contains(error("3 1\n2\n1 3\n2\n"), "4 neighbours, but its first line says 1 edges"));
  CHECK(contains(error("3 2\n2\n1 3\n"), "names 3 neighbours"));
  CHECK(contains(error("4 1\n2\n1\n"), "lines for 2 vertices but its first line says 4"));
  CHECK(contains(error("2 1\n2\n1\n3\n"), "line 4, column 1: a line more than the 2 vertices have"));
  CHECK(contains(error("3 2"), "too short"));
  CHECK(contains(error("9999999 2\n2\n"), "line 1, column 1: the file is too short for 9999999 vertices"));
  CHECK(contains(error("999999999999999 2\n2\n"), "more vertices or edges than are supported"));
  CHECK(contains(error("2\n2\n1\n"), "expected the number of edges"));
  CHECK(contains(error("2 1 2\n2\n1\n"), "FMT 2 has other digits"));
  CHECK(contains(error("2 1 1 2\n2 1\n1 1\n"), "NCON is given, but"));
  CHECK(contains(error("2 1 0 0 0\n2\n1\n"), "expected nothing after"));
  CHECK(contains(error("a b\n"), "line 1, column 1: expected METIS's first line"));
  CHECK(contains(error("% only\n"), "the file ends before"));
  CHECK(contains(error(""), "the file ends before"));
  const std::string whole = metis("11");
  for (std::size_t length = 12; length + 8 < whole.size(); ++length) error(whole.substr(0, length));
}

TEST_CASE("METIS files are no edge lists") {
  const Converter converter;
  for (const bool weights : {true, false}) {
    const ConvertOptions options = {.format = Format::snap, .weights = weights};
    CHECK(contains(converter.error("g.graph", metis(""), options), "--format metis"));
    CHECK(contains(converter.error("g.graph", "4 4\n2 3 4\n1 3\n1 2\n1\n", options), "--format metis"));
    CHECK(contains(converter.error("g.txt", "4 4\n2\n1 3\n1 2\n1\n", options), "--format metis"));
  }
}

TEST_CASE("DIMACS files") {
  const Converter converter;
  const std::string text = "c 9th challenge\nc\n\np sp 4 3\r\nc more\na 1 2 5\na 4 1 -7\na 2 2 1";
  const Graph graph = converter("g.gr", text);
  CHECK(graph.vertices() == 4);
  CHECK(edges_of(graph) == std::vector<Edge>{{0, 1, 5}, {1, 1, 1}, {3, 0, -7}});
  CHECK(graph.original_id(3) == 4);
  CHECK_FALSE(converter("g.gr", text, {.weights = false}).weighted());
  CHECK(edges_of(converter("unknown", text)).size() == 3);
  const auto error = [&](const std::string& wrong) { return converter.error("g.gr", wrong); };
  CHECK(contains(error("p sp 4 3\na 1 2 5\n"), "the file has 1 entries but its line p says 3"));
  CHECK(contains(error("p sp 4 1\na 1 5 5\n"), "line 2, column 5: vertex id 5 is not within 1 to 4"));
  CHECK(contains(error("p sp 4 1\na 0 1 5\n"), "vertex id 0 is not within 1 to 4"));
  CHECK(contains(error("p sp 4 1\na 1 2\n"), "the weight is missing"));
  CHECK(contains(error("p sp 4 1\na 1 2 3 4\n"),
                 "line 2, column 1: 5 fields where each edge of this file has 4"));
  CHECK(contains(error("p sp 4 1\ne 1 2\n"), "line 2, column 1: expected 'a SOURCE TARGET WEIGHT'"));
  CHECK(contains(error("p sp 4\n"), "line 1, column 1: expected two whole numbers"));
  CHECK(contains(error("p sp 4 -1\n"), "expected two whole numbers"));
  CHECK(contains(error("p sp 4 99999\n"), "too short for 99999 entries"));
  CHECK(
      contains(error("c\np edge 4 1\ne 1 2\n"), "line 2, column 1: DIMACS problem 'edge' is not supported"));
  CHECK(contains(error("1 2 3\n"), "expected 'p sp VERTICES ARCS' before"));
  CHECK(contains(error("c only\n"), "the file ends before"));
}

TEST_CASE("what editors and NetworkX add to edge lists") {
  const Converter converter;
  const std::vector<Edge> edges = {{0, 1, 4}, {1, 2, 0.5}};
  CHECK(edges_of(converter("g.txt", "\xEF\xBB\xBF# c\n// c\n% c\n0 1 4\r\n1 2 .5")) == edges);
  CHECK(edges_of(converter("g.mtx",
                           "\xEF\xBB\xBF%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")) ==
        std::vector<Edge>{{0, 1, 0}});
  CHECK(edges_of(converter(
            "g.txt", "0 1 {'weight': 4}\n1 2 {'a': 'x, {', 'weight': 0.5, \"b\": [1, {}]}\n")) == edges);
  CHECK(edges_of(converter("g.edges", "0 1 {'weight': 4}\n1 2 {}\n", {.weights = false})) ==
        without_weights(edges));
  CHECK(edges_of(converter("g.edges", "0 1 {}\n1 2 {'color': \"it's\"}\n")) == without_weights(edges));
  CHECK(contains(converter.error("g.txt", "0 1 {'weight': 4}\n1 2 {}\n"),
                 "line 2, column 5: the attributes have no"));
  CHECK(contains(converter.error("g.txt", "0 1 {'weight': 'x'}\n"), "column 16: expected a weight"));
  CHECK(contains(converter.error("g.txt", "0 1 {'weight': 4}\n0 1 {'weight': 4\n"),
                 "column 5: expected attributes such as"));
  CHECK(contains(converter.error("g.txt", "0 1 {'weight': 4} 5\n"), "4 fields"));
  CHECK(contains(converter.error("g.txt",
                                 "\xFF\xFE"
                                 "1\0 \0002\0"s),
                 "UTF-16"));
}

TEST_CASE("text of two bytes a character is refused with its encoding and the remedy") {
  const Converter converter;
  const auto wide = [](std::string_view text, bool big_endian) {
    std::string bytes;
    for (const char c : text) bytes.append({big_endian ? '\0' : c, big_endian ? c : '\0'});
    return bytes;
  };
  const std::string lines = "0 1\r\n1 2\r\n";
  const auto said = [](const char* encoding) {
    return fmt::format("it is text in {0}; iconv -f {0} -t UTF-8 FILE > NEW makes it readable", encoding);
  };
  for (const char* const name :
       {"g.txt", "g.csv", "g.mtx", "g.graph", "g.gr", "g.el", "g.bin", "g.sg", "g"}) {
    CHECK(converter.error(name, wide(lines, false)) == said("UTF-16LE"));
    CHECK(converter.error(name, wide(lines, true)) == said("UTF-16BE"));
    CHECK(converter.error(name, "\xFF\xFE" + wide(lines, false)) == said("UTF-16"));
    CHECK(converter.error(name, "\xFE\xFF" + wide(lines, true)) == said("UTF-16"));
  }
  CHECK(converter.error("g.txt", "\xFF\xFE\0\0000\0\0\0"s) == said("UTF-32"));
  CHECK(converter.error("g.txt", gzipped(wide(lines, false))) == said("UTF-16LE"));
  CHECK(converter.error("g.txt", "\x10\x04\x3D\x04\t\0\x11\x04\n\0"s, {.labels = true}) == said("UTF-16LE"));
  const auto is_wide = [&](const std::string& bytes) {
    return contains(converter.error("g.txt", bytes), "UTF");
  };
  CHECK_FALSE(is_wide(u32_pairs()));
  CHECK_FALSE(is_wide(gap_binary(true)));
  CHECK_FALSE(is_wide("0 1\n\0 1\n"s));
  // Ids whose bytes look like letters are ids all the same.
  std::string pairs;
  for (std::uint32_t id = 0x310030; id < 0x310830; ++id) append(pairs, id);
  CHECK(converter("g.u32", pairs).edges() == 1024);
  // So are ids whose bytes look like the mark of an order of bytes.
  for (const std::uint32_t id : {0xFFFEU, 0xFEFFU, 0xFFFFFEU, 0xFFFE0000U}) {
    std::string marked;
    append(marked, id);
    append(marked, id + 1);
    CHECK(converter("g.u32", marked).edges() == 1);
  }
  ConvertOptions options;
  options.vertices = converter.directory() / "v";
  write_file(options.vertices, wide(lines, false));
  write_file(converter.directory() / "in.txt", "0 1\n");
  CHECK(error_of([&] {
          convert(converter.directory() / "in.txt", converter.directory() / "g.ew", options);
        }) == options.vertices + ": " + said("UTF-16LE"));
}

TEST_CASE("tables with and without a header") {
  const Converter converter;
  const std::vector<Edge> edges = {{0, 1, 4}, {1, 2, 0.5}};
  const std::vector<Edge> bare = without_weights(edges);
  CHECK(edges_of(converter("g.csv", "src,dst,weight\n0,1,4\n1,2,.5\n")) == edges);
  CHECK(edges_of(converter("g.tsv", "Source\tTarget\tnote\r\n0\t1\t\r\n1\t2\tx y")) == bare);
  CHECK(edges_of(converter(
            "g.csv", "\xEF\xBB\xBF\"weight\" ; \"to\"; \"from\"\n\"4\";\"1\";\"0\"\n0.5;2;1\n")) == edges);
  CHECK(edges_of(converter("g.txt", "// c\n\nfrom to w\n0 1 4\n# c\n1  2 7\n")) == bare);
  CHECK(edges_of(converter("noname", "src|dst|weight\n0|1|x\n1|2|\n", {.weights = false})) == bare);
  CHECK(edges_of(converter("g.csv", "0;1;4\n1;2;.5\n")) == edges);
  CHECK(edges_of(converter("g.csv", "a,\"b, \"\"c\"\"\",d\n\"x,y\",0,1\n,1,2\n", {.columns = "2,d"})) ==
        bare);
  CHECK(edges_of(converter("g.csv", "w,u,v\n4,0,1\n.5,1,2\n", {.columns = "u,V,w"})) == edges);
  CHECK(edges_of(converter("g.csv", "9,0,1\n9,1,2\n", {.columns = "2,3"})) == bare);
  CHECK(edges_of(converter("g.txt", "0 1 9 4\n1 2 9 .5\n", {.columns = "1,2,4"})) == edges);
  CHECK(converter("g.csv", "src,dst\n", {.allow_empty = true}).vertices() == 0);
}

TEST_CASE("tables of two columns, whatever a row in the middle looks like") {
  const Converter converter;
  for (const std::string separator : {",", ";", "\t", " "}) {
    std::vector<Edge> edges;
    std::string half = "";
    for (std::uint32_t i = 0; i < 2000; ++i) half += fmt::format("{}{}{}\n", i, separator, (i * 7) % 2000);
    for (std::uint32_t i = 0; i < 4000; ++i) edges.emplace_back(i / 2, (i / 2 * 7) % 2000, 0);
    const std::string head = fmt::format("src{}dst\n", separator);
    const auto with = [&](const std::string& row) { return fmt::format("{}{}{}{}", head, half, row, half); };
    for (const char* const row : {"", "# a comment\n", "\n", "\r\n"}) {
      CAPTURE(row);
      CHECK(edges_of(converter("g.csv", with(row))) == edges);
    }
    const std::string quoted = fmt::format("\"5\"{0}\"5\"\n", separator);
    CHECK(converter("g.csv", with(quoted)).edges() == 4001);
    CHECK(converter("g.csv", with(fmt::format("5{}9999999999\n", separator))).original_id(2000) ==
          9999999999);
    const auto error = [&](const std::string& row) { return converter.error("g.csv", with(row)); };
    CHECK(contains(error(separator == "," ? "5;5\n" : "5,5\n"), "line 2002, column"));
    CHECK(contains(error(fmt::format("5{0}5{0}5\n", separator)), "line 2002, column"));
    CHECK(contains(error(fmt::format("5{}-5\n", separator)), "line 2002, column"));
  }
}

TEST_CASE("tables that are wrong are refused") {
  const Converter converter;
  const auto error = [&](const std::string& text, const std::string& columns = "") {
    return converter.error("g.csv", text, {.columns = columns});
  };
  CHECK(contains(error("a,dst\n1,2\n"),
                 "line 1, column 1: column 2 (dst) tells the target of edges, but no name tells their "
                 "source: which columns hold the edges? Say --columns"));
  CHECK(contains(error("src,dst\n1,2\n3\n"), "line 3, column 1: 1 fields where the first line has 2"));
  CHECK(contains(error("src,dst\n1,x\n"), "line 2, column 3: expected a vertex id"));
  CHECK(contains(error("src,dst\n1,\n"), "line 2, column 3: expected a vertex id"));
  CHECK(contains(error("src,dst\n1,-2\n"), "expected a vertex id"));
  CHECK(contains(error("src,dst\n1,18446744073709551616\n"), "does not fit 64 bits"));
  CHECK(contains(error("src,dst,weight\n1,2,nan\n"), "line 2, column 5: the weight is not a finite"));
  CHECK(contains(error("src,dst\n1,\"2\n"), "line 2, column 1: a quoted field does not end"));
  CHECK(contains(error("src,dst\n1,\"2\"x\n"), "a quoted field does not end"));
  CHECK(contains(error("a,b\n1,2\n", "a,c"),
                 "line 1, column 1: --columns: this line has no column c; its columns are a, b"));
  CHECK(contains(error("a,b\n1,2\n", "1,3"), "no column 3"));
  CHECK(contains(error("1;2;3;4\n"), "which columns"));
  CHECK(contains(error("4 2\n2\n1 3\n2\n", "1,2"), "is a METIS graph"));
  CHECK_THROWS_AS(converter("g.csv", "a,b\n1,2\n", {.columns = "a"}), UsageError);
  CHECK_THROWS_AS(converter("g.csv", "a,b\n1,2\n", {.columns = "a,a"}), UsageError);
  CHECK_THROWS_AS(converter("g.mtx", matrix_market(true), {.columns = "1,2"}), UsageError);
}

TEST_CASE("content tells the format where the name does not, and contradicts a wrong name") {
  const Converter converter;
  CHECK(edges_of(converter("noname", edge_lines(true, 0))) == kEdges);
  CHECK(edges_of(converter("out.web-x", "% asym\n" + edge_lines(true, 0))) == kEdges);
  CHECK(edges_of(converter("g.dat.gz", matrix_market(true))) == kEdges);
  const std::string matrix = matrix_market(false);
  CHECK(converter.error("g.txt", matrix) ==
        "its name says snap, but its content is Matrix Market; --format mtx reads it");
  CHECK(contains(converter.error("g.mtx", matrix, {.format = Format::snap}),
                 "--format says snap, but its content"));
  CHECK(edges_of(converter("g.txt", matrix, {.format = Format::matrix_market})).size() == kEdges.size());
  CHECK(contains(converter.error("g.txt", "c x\np sp 2 1\na 1 2 3\n"), "--format dimacs reads it"));
  CHECK(contains(converter.error("g.bin", "0 1\n1 2\n"), "binary, but its content is text; --format snap"));
  CHECK(contains(converter.error("g.sg", edge_lines(false, 0), {.format = Format::u32_pairs}),
                 "--format says u32pairs"));
  CHECK(contains(converter.error("g.graph", "1 2 3\n\x01\x02"s),
                 "line 2, column 1: binary data, but its name says metis"));
  CHECK(contains(converter.error("g.txt", "EDGEWIRE"), "--format ew reads it"));
  CHECK(contains(converter.error("g.xml", "<?xml"), "XML is not supported; readable are .txt"));
  CHECK(contains(converter.error("g.txt", "<graphml>"), "its content is XML; readable are"));
  CHECK(contains(converter.error("g.dot", "digraph {}"), "DOT is not supported"));
  CHECK(contains(converter.error("g.zip", "PK\x03\x04..."), "a zip archive is not supported"));
  CHECK(contains(converter.error("g.foo", "what is this"), ".foo is not supported; readable are .txt"));
  CHECK(contains(converter.error("noname", "what is this"), "neither name nor content tells its format"));
  CHECK(contains(converter.error("noname", ""), "the file is empty"));
  CHECK(format_of_name("A.B/C.MTX.GZ") == Format::matrix_market);
  CHECK(format_of_name("x.tar.gz: x/x.mtx") == Format::matrix_market);
  CHECK(format_of_name("a.b/c.el.bz2") == Format::el);
  CHECK_FALSE(format_of_name("a.el/c").has_value());
}

TEST_CASE("what Python reads is refused with the call") {
  const Converter converter;
  const auto says = [&](const std::string& name, const std::string& bytes, const std::string& what,
                        const std::string& call, const ConvertOptions& options = {}) {
    const std::string path = converter.directory() / name;
    const std::string graph = std::filesystem::path(path).replace_extension(".ew");
    CHECK(converter.error(name, bytes, options) ==
          fmt::format("{}; Python reads it: {}.save(\"{}\")", what,
                      fmt::format(fmt::runtime(call), fmt::format("\"{}\"", path)), graph));
  };
  const std::string parquet = "PAR1\x15\x04\x15",
                    table = "edgewire.Graph.from_pandas(pandas.read_parquet({}))";
  says("g.parquet", parquet, "Parquet is not supported", "edgewire.read({})");
  says("g.PQ", parquet, "Parquet is not supported", "edgewire.read({})");
  says("g", parquet, "Parquet is not supported", table);  // edgewire.read() goes by the name
  says("g.dat", parquet, "Parquet is not supported", table);
  says("g.csv", parquet, "its name says csv, but its content is Parquet", table);
  says("g.parquet", parquet, "--format says snap, but its content is Parquet", "edgewire.read({})",
       {.format = Format::snap});
  says("g.arrow", "ARROW1\0\0"s, "Arrow is not supported", "edgewire.read({})");
  says("g.xlsx", "PK\x03\x04", "a zip archive is not supported",
       "edgewire.Graph.from_pandas(pandas.read_excel({}))");
  says("g.graphml", "<?xml", "XML is not supported",
       "edgewire.Graph.from_networkx(networkx.read_graphml({}))");
  says("g.pkl", "\x80\x04", ".pkl is not supported", "edgewire.Graph.from_pandas(pandas.read_pickle({}))");
  CHECK(python_reads("a \"b\\.pq") == R"(edgewire.read("a \"b\\.pq").save("a \"b\\.ew"))");
  for (const char* name : {"g.parquet.gz", "g.html", "g.foo", "parquet", "g.parquet/g"})
    CHECK(python_reads(name) == "");
  CHECK(contains(converter.error("g.html", "<html>"), "XML is not supported; readable are"));
}

TEST_CASE("what Python writes is refused with the call") {
  CHECK(python_writes("r.parquet", "T", "G") == "T.to_parquet(\"r.parquet\")");
  CHECK(python_writes("r.gexf", "T", "G") == "networkx.write_gexf(G, \"r.gexf\")");
  for (const char* name : {"r.gexf", "r.parquet.gz", "r.mat", "r.csv"}) CHECK(python_writes(name, "T") == "");
  CHECK(
      contains(error_of([] { format_of_output("g.parquet"); }),
               ".parquet is not written; Python writes it: "
               "edgewire.read(...).to_pandas().to_parquet(\"g.parquet\"); else use a name that ends in .ew"));
  CHECK(
      contains(error_of([] { format_of_output("g.foo"); }), ".foo is not written; use a name that ends in"));
}

}  // namespace edgewire::graph
