#include "graph/convert.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "graph/read/input.h"
#include "graph_test.h"

namespace edgewire::graph {

namespace {

/// What a graph becomes in another format.
std::string written(const Graph& graph, Format format, bool weights = true, int workers = 2) {
  const TemporaryDirectory directory;
  export_graph(graph, directory / "out", {format, weights, workers});
  return read_file(directory / "out");
}

/// Longer than several blocks: a row of 150,000 edges, then rows without edges, then short ones.
std::vector<Edge> long_edges() {
  std::vector<Edge> edges;
  for (std::uint32_t i = 0; i < 150'000; ++i) edges.emplace_back(3, i, i % 10 + 1);
  for (std::uint32_t i = 100'000; i < 170'000; ++i) edges.emplace_back(i, (i * 7) % 1000, 0.25F);
  return edges;
}

}  // namespace

TEST_CASE("edge lists, tables and Matrix Market hold all edges in order, whatever the number of workers") {
  const TemporaryDirectory directory;
  build(directory / "g.ew", 200'000, long_edges(), {.weighted = true});
  const Graph graph = Graph::open(directory / "g.ew");
  std::string el;
  std::string wel;
  std::string csv = "source,target,weight\n";
  std::string tsv = "source\ttarget\tweight\n";
  std::string mtx = "%%MatrixMarket matrix coordinate real general\n200000 200000 220000\n";
  for (const auto& [source, target, weight] : edges_of(graph)) {
    el += fmt::format("{} {}\n", source, target);
    wel += fmt::format("{} {} {}\n", source, target, weight);
    csv += fmt::format("{},{},{}\n", source, target, weight);
    tsv += fmt::format("{}\t{}\t{}\n", source, target, weight);
    mtx += fmt::format("{} {} {}\n", source + 1, target + 1, weight);
  }
  for (const int workers : {1, 7}) {
    CHECK(written(graph, Format::el, true, workers) == el);
    CHECK(written(graph, Format::wel, true, workers) == wel);
    CHECK(written(graph, Format::csv, true, workers) == csv);
    CHECK(written(graph, Format::tsv, true, workers) == tsv);
    CHECK(written(graph, Format::matrix_market, true, workers) == mtx);
  }
}

TEST_CASE("METIS rows hold the neighbours of each vertex, also over many blocks") {
  const TemporaryDirectory directory;
  std::vector<Edge> edges = long_edges();
  for (auto& [source, target, weight] : edges) weight = 7;
  build(directory / "g.ew", 200'000, edges, {.weighted = true, .simple = true, .undirected = true});
  const Graph graph = Graph::open(directory / "g.ew");
  std::vector<std::set<std::uint32_t>> neighbours(200'000);
  for (const auto& [source, target, weight] : edges) {
    if (source == target) continue;
    neighbours[source].insert(target + 1);
    neighbours[target].insert(source + 1);
  }
  std::size_t ends = 0;
  std::string plain;
  std::string weighted;
  for (const auto& row : neighbours) {
    ends += row.size();
    const char* separator = "";
    for (const std::uint32_t neighbour : row) {
      plain += fmt::format("{}{}", separator, neighbour);
      weighted += fmt::format("{}{} 7", separator, neighbour);
      separator = " ";
    }
    plain += '\n';
    weighted += '\n';
  }
  CHECK(written(graph, Format::metis, false) == fmt::format("200000 {}\n", ends / 2) + plain);
  CHECK(written(graph, Format::metis) == fmt::format("200000 {} 001\n", ends / 2) + weighted);
}

TEST_CASE("METIS refuses what it cannot hold, by content and not by flags") {
  const TemporaryDirectory directory;
  const std::string out = directory / "out";
  const auto message = [&](const std::vector<Edge>& edges, const BuildOptions& options = {}) {
    build(directory / "g.ew", 4, edges, options);
    const Graph graph = Graph::open(directory / "g.ew");
    std::string text = error_of([&] { export_graph(graph, out, {Format::metis}); });
    CHECK(directory.files() == 1);
    return text;
  };
  CHECK(contains(message({{0, 1, 0}}), "is directed; convert it with --undirected --simple"));
  CHECK(contains(message({{0, 1, 0}, {1, 0, 0}, {2, 2, 0}}), "self loops or duplicate edges"));
  CHECK(contains(message({{0, 1, 0}, {1, 0, 0}, {0, 1, 0}, {1, 0, 0}}), "self loops or duplicate edges"));
  const BuildOptions weighted = {.weighted = true};
  CHECK(contains(message({{0, 1, 1}, {1, 0, 2}}, weighted), "is directed"));
  for (const float weight : {0.0F, -1.0F, 1.5F, 2147483648.0F}) {
    CHECK(contains(message({{1, 2, weight}, {2, 1, weight}}, weighted),
                   fmt::format("from vertex 2 to 3 weighs {}; --no-weights", static_cast<double>(weight))));
  }
  // Both ways without a flag that says so.
  build(directory / "g.ew", 4, {{0, 1, 2147483520.0F}, {1, 0, 2147483520.0F}}, weighted);
  CHECK(written(Graph::open(directory / "g.ew"), Format::metis) ==
        "4 1 001\n2 2147483520\n1 2147483520\n\n\n");
}

TEST_CASE("GAP's binary formats come back equal, with the edges of both directions") {
  const TemporaryDirectory directory;
  std::vector<Edge> edges = long_edges();
  for (auto& [source, target, weight] : edges) weight = static_cast<float>(target % 5) - 2;
  build(directory / "g.ew", 200'000, edges, {.weighted = true});
  const Graph graph = Graph::open(directory / "g.ew");
  std::vector<Edge> turned = edges_of(graph);
  for (auto& [source, target, weight] : turned) std::swap(source, target);
  std::sort(turned.begin(), turned.end());
  build(directory / "turned.ew", 200'000, turned, {.weighted = true});
  const Graph in_edges = Graph::open(directory / "turned.ew");
  for (const bool weighted : {false, true}) {
    std::string expected(1, '\1');
    const auto put = [&](auto value) {
      expected.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    put(graph.edges());
    put(graph.vertices());
    for (const Graph* direction : {&graph, &in_edges}) {
      for (const std::uint64_t offset : direction->offsets()) put(offset);
      for (const auto& [source, target, weight] : edges_of(*direction)) {
        put(target);
        if (weighted) put(static_cast<std::int32_t>(weight));
      }
    }
    CHECK(written(graph, weighted ? Format::wsg : Format::sg) == expected);
  }
}

TEST_CASE("a symmetric graph is undirected in GAP's binary format") {
  const TemporaryDirectory directory;
  build(directory / "g.ew", 3, {{0, 1, 0}, {2, 2, 0}}, {.undirected = true});
  const std::string bytes = written(Graph::open(directory / "g.ew"), Format::sg);
  CHECK(bytes.size() == 17 + 4 * 8 + 3 * 4);
  CHECK(bytes[0] == '\0');
}

TEST_CASE("weights that a format cannot hold are refused") {
  const TemporaryDirectory directory;
  for (const float weight : {0.5F, 2147483648.0F, -3e9F}) {
    build(directory / "g.ew", 2, {{0, 1, weight}}, {.weighted = true});
    const Graph graph = Graph::open(directory / "g.ew");
    CHECK(contains(error_of([&] { written(graph, Format::wsg); }),
                   fmt::format("weighs {}", static_cast<double>(weight))));
    CHECK(contains(error_of([&] { written(graph, Format::wel, false); }), "--no-weights drops them"));
  }
  build(directory / "g.ew", 2, {{0, 1, 0}}, {});
  CHECK(contains(error_of([&] { written(Graph::open(directory / "g.ew"), Format::wel); }),
                 "the graph has none"));
}

TEST_CASE("weights are written so that they come back to the bit") {
  const TemporaryDirectory directory;
  const std::vector<Edge> edges = {{0, 0, 0.1F},
                                   {0, 1, 1e-20F},
                                   {1, 0, std::numeric_limits<float>::max()},
                                   {1, 1, -std::numeric_limits<float>::denorm_min()},
                                   {1, 2, 16777217.0F}};
  build(directory / "g.ew", 3, edges, {.weighted = true});
  export_graph(Graph::open(directory / "g.ew"), directory / "g.wel", {Format::wel});
  convert(directory / "g.wel", directory / "back.ew", {});
  CHECK(edges_of(Graph::open(directory / "back.ew")) == edges);
}

TEST_CASE("graphs without edges and vertices") {
  const TemporaryDirectory directory;
  build(directory / "none.ew", 0, {}, {});
  build(directory / "one.ew", 1, {}, {});
  const Graph none = Graph::open(directory / "none.ew");
  const Graph one = Graph::open(directory / "one.ew");
  CHECK(written(none, Format::el).empty());
  CHECK(written(one, Format::el).empty());
  CHECK(written(none, Format::metis) == "0 0\n");
  CHECK(written(one, Format::metis) == "1 0\n\n");
  CHECK(written(none, Format::matrix_market) == "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n");
  CHECK(written(one, Format::matrix_market) == "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n");
  CHECK(written(none, Format::sg).size() == 17 + 2 * 8);
  CHECK(written(one, Format::sg).size() == 17 + 2 * 16);
}

TEST_CASE("edge lists say how many vertices they lose") {
  const TemporaryDirectory directory;
  build(directory / "g.ew", 10, {{1, 6, 0}, {5, 0, 0}}, {});
  const Graph graph = Graph::open(directory / "g.ew");
  CHECK(export_graph(graph, directory / "g.el", {Format::el}).lost_vertices == 3);
  CHECK(export_graph(graph, directory / "g.mtx", {Format::matrix_market}).lost_vertices == 0);
}

TEST_CASE("tables call vertices as results do, and count all vertices that they lose") {
  const TemporaryDirectory directory;
  write_file(directory / "in.txt", "7 900\n900 30\n");
  convert(directory / "in.txt", directory / "ids.ew", {});
  CHECK(written(Graph::open(directory / "ids.ew"), Format::csv) == "source,target\n7,900\n900,30\n");
  build(directory / "g.ew", 10, {{1, 6, 0}, {5, 0, 0}}, {});
  const WriteSummary summary =
      export_graph(Graph::open(directory / "g.ew"), directory / "g.csv", {Format::csv});
  CHECK(summary.lost_vertices == 6);
  CHECK(!summary.first_id);
}

TEST_CASE("names in tables are quoted where they must be, and come back") {
  const TemporaryDirectory directory;
  const std::string list =
      "Éva Long\t\"a,b\"\t1\n\"a,b\"\t\"say \"\"hi\"\"\"\t2\n\"# x\"\t\" y \"\t3\n\"//z\"\t\" \"\t4\n"
      "\"%\"\t\"\"\"\"\t5\n\";\"\t|'\t6\n\"\"\"\"\"\"\tÉva Long\t7\n";
  write_file(directory / "in.tsv", list);
  convert(directory / "in.tsv", directory / "g.ew", {.labels = true});
  const Graph graph = Graph::open(directory / "g.ew");
  CHECK(
      written(graph, Format::csv) ==
      "source,target,weight\n\"\"\"\"\"\",Éva Long,7\n\"# x\",\" y \",3\n\"%\",\"\"\"\",5\n\"//z\",\" \",4\n"
      ";,|',6\n\"a,b\",\"say \"\"hi\"\"\",2\nÉva Long,\"a,b\",1\n");
  CHECK(contains(written(graph, Format::tsv), "\na,b\t\"say \"\"hi\"\"\"\t2\n"));
  for (const auto& [name, format] : {std::pair{"t.csv", Format::csv}, {"t.tsv", Format::tsv}}) {
    export_graph(graph, directory / name, {format});
    convert(directory / name, directory / "back.ew", {.labels = true, .columns = "source,target,weight"});
    const Graph back = Graph::open(directory / "back.ew");
    CHECK(edges_of(back) == edges_of(graph));
    CHECK(read_file(directory / "back.ew.labels") == read_file(directory / "g.ew.labels"));
  }
}

TEST_CASE("edge lists hold names that need no quotes") {
  const TemporaryDirectory directory;
  write_file(directory / "in.tsv", "Éva\tbob\nbob\ta'\n");
  convert(directory / "in.tsv", directory / "g.ew", {.labels = true});
  const Graph graph = Graph::open(directory / "g.ew");
  export_graph(graph, directory / "g.el", {.format = Format::el, .names = true});
  CHECK(read_file(directory / "g.el") == "bob a'\nÉva bob\n");
  CHECK(written(graph, Format::el) == "1 0\n2 1\n");
  for (const char* const name : {"a b", "\"a,b\"", "\"say \"\"hi\"\"\"", "\"#x\"", "\"//x\"", "\"%x\""}) {
    write_file(directory / "in.tsv", fmt::format("bob\t{}\n", name));
    convert(directory / "in.tsv", directory / "g.ew", {.labels = true});
    const Graph other = Graph::open(directory / "g.ew");
    CHECK(contains(
        error_of([&] { export_graph(other, directory / "none.el", {.format = Format::el, .names = true}); }),
        "none.el: an edge list cannot hold the name '"));
    CHECK(!std::filesystem::exists(directory / "none.el"));
  }
  // Readers would take each of these lists for something else, by its first lines.
  for (const auto& list : {std::pair{"{x\ty\n", "JSON"},
                           {"<x\ty\n", "XML"},
                           {"*x\ty\n", "Pajek"},
                           {"PAR1\ty\n", "Parquet"},
                           {"\xFE\xFFx\ty\n", "text in UTF-16"},
                           {"\xFF\xFEx\ty\n", "text in UTF-16"},
                           {"\xEF\xBB\xBFx\ty\n", "text with a byte order mark"},
                           {"BZh91AY&SY\ty\n", "packed data"},
                           {"z\tx\nc\tx\np\ty\n", "DIMACS"},
                           {"z\tx\nsource\ttarget\n", "a table"}}) {
    CAPTURE(list.second);
    write_file(directory / "in.tsv", std::string("# names\n") + list.first);
    convert(directory / "in.tsv", directory / "g.ew", {.labels = true});
    const Graph named = Graph::open(directory / "g.ew");
    const std::string line =
        error_of([&] { export_graph(named, directory / "none.el", {.format = Format::el, .names = true}); });
    CHECK_MESSAGE(contains(line, list.second), line);
    CHECK(!std::filesystem::exists(directory / "none.el"));
  }
}

TEST_CASE("text is compressed as the name of the output says") {
  const TemporaryDirectory directory;
  build(directory / "g.ew", 200'000, long_edges(), {});
  const Graph graph = Graph::open(directory / "g.ew");
  for (const char* const name : {"g.csv.gz", "g.csv.zst"}) {
    const auto bytes = export_graph(graph, directory / name, {Format::csv, true, 3}).bytes;
    CHECK(bytes == std::filesystem::file_size(directory / name));
    CHECK(bytes < written(graph, Format::csv).size() / 2);
    convert(directory / name, directory / "back.ew", {.keep_ids = true});
    CHECK(edges_of(Graph::open(directory / "back.ew")) == edges_of(graph));
  }
  build(directory / "none.ew", 3, {}, {});
  export_graph(Graph::open(directory / "none.ew"), directory / "none.el.gz", {Format::el});
  CHECK(Input(directory / "none.el.gz").peek().empty());
  CHECK(std::filesystem::file_size(directory / "none.el.gz") > 0);
}

TEST_CASE("a damaged graph is not written") {
  const TemporaryDirectory directory;
  build(directory / "g.ew", 200'000, long_edges(), {});
  std::string bytes = read_file(directory / "g.ew");
  bytes[bytes.size() - 8192] = static_cast<char>(bytes[bytes.size() - 8192] ^ 1);
  write_file(directory / "g.ew", bytes);
  const Graph graph = Graph::open(directory / "g.ew");
  for (const Format format : {Format::el, Format::csv, Format::matrix_market, Format::metis, Format::sg}) {
    CHECK(contains(error_of([&] { export_graph(graph, directory / "out", {format, true, 3}); }), "damaged"));
    CHECK(directory.files() == 1);
  }
}

TEST_CASE("the name of an output tells its format, or how to say it") {
  CHECK(format_of_output("a.b/c.mtx") == Format::matrix_market);
  CHECK(format_of_output("g.graph") == Format::metis);
  CHECK(format_of_output("a.el/g") == Format::ew);
  CHECK(format_of_output("g.csv") == Format::csv);
  CHECK(format_of_output("g.tsv.zst") == Format::tsv);
  CHECK(format_of_output("g.el.gz") == Format::el);
  CHECK_NOTHROW(check_packing("g.el.gz", Format::el));
  CHECK(contains(error_of([] { check_packing("g.sg.gz", Format::sg); }), "without .gz"));
  CHECK(contains(error_of([] { check_packing("g.el.xz", Format::el); }), "as .gz or as .zst"));
  CHECK(contains(error_of([] { format_of_output("g.txt"); }), ".txt is not written"));
}

}  // namespace edgewire::graph
