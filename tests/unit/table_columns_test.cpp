// Which columns of a table become edges, and what is said of it.
#include "base/error.h"
#include "edgewire/convert.h"
#include "graph/convert.h"
#include "graph_inputs.h"

namespace edgewire::graph {

namespace {

using namespace std::string_literals;
using Texts = std::vector<std::string>;

/// What became of a table: its edges by the ids of the input, and the lines that were said.
struct TableEdges {
  std::vector<std::string> edges;
  Texts notes;
};

TableEdges read_table_of(const Converter& converter, const std::string& text, ConvertOptions options = {}) {
  TableEdges found;
  options.note = [&](const std::string& line) { found.notes.push_back(line.substr(line.find(": ") + 2)); };
  const Graph graph = converter("t.csv", text, options);
  for (const auto& [source, target, weight] : edges_of(graph)) {
    const auto id = [&](std::uint32_t v) { return graph.original_id(VertexId(v)); };
    found.edges.push_back(fmt::format("{}>{}", id(source), id(target)) +
                          (graph.weighted() ? fmt::format("={}", weight) : ""));
  }
  return found;
}

}  // namespace

TEST_CASE("names tell the columns of a table, in any order and in any capitals") {
  const Converter converter;
  const Texts weighted = {"10>11=1.5", "11>12=2.5"}, bare = {"10>11", "11>12"};
  const auto check = [&](const std::string& text, const Texts& edges) {
    CAPTURE(text);
    const TableEdges found = read_table_of(converter, text);
    CHECK(found.edges == edges);
    CHECK(found.notes.empty());
  };
  for (const auto& [source, target] : {std::pair{"source"s, "target"s},
                                       {"src", "dst"},
                                       {"FROM", "To"},
                                       {"Source", "Target"},
                                       {"src", "destination"},
                                       {"from", "dest"}}) {
    check(fmt::format("{},{}\n10,11\n11,12\n", source, target), bare);
    check(fmt::format("{},{}\n11,10\n12,11\n", target, source), bare);
    check(fmt::format("id,{},{},Weight\n0,10,11,1.5\n1,11,12,2.5\n", source, target), weighted);
    check(fmt::format("WEIGHT,{},{}\n1.5,11,10\n2.5,12,11\n", target, source), weighted);
    check(fmt::format("{},weight,{},cost\n10,1.5,11,x\n11,2.5,12,x\n", source, target), weighted);
  }
  check("Source;Target;Type;Id;Label;timeset\n10;11;Directed;0;;\n11;12;Directed;1;;\n", bare);
}

TEST_CASE("columns without known names are taken by their places, and a line says so") {
  const Converter converter;
  const auto check = [&](const std::string& text, const Texts& edges, const std::string& note) {
    CAPTURE(text);
    const TableEdges found = read_table_of(converter, text);
    CHECK(found.edges == edges);
    CHECK(found.notes == Texts{note});
  };
  check("a,b\n10,11\n", {"10>11"}, "no column is called source or target, so edges go from a to b");
  check(
      "a,b,w,t\n10,11,7,8\n", {"10>11"},
      "no column is called source or target, so edges go from a to b; ignored: w, t (--columns a,b,w takes w "
      "for the weight)");
  check("weight,a,b\n1.5,10,11\n", {"10>11=1.5"},
        "no column is called source or target, so edges go from a to b, with the weight weight");
  check("first id,a,a\n10,11,12\n", {"10>11"},
        "no column is called source or target, so edges go from first id to a; ignored: a (--columns 1,2,3 "
        "takes "
        "a for the weight)");
}

TEST_CASE("a line names columns that nobody calls a weight, and how to take them") {
  const Converter converter;
  for (const std::string name : {"cost", "weights", "capacity"}) {
    const std::string text = fmt::format("src,dst,{}\n10,11,3\n", name);
    const TableEdges found = read_table_of(converter, text);
    CHECK(found.edges == Texts{"10>11"});
    CHECK(found.notes == Texts{fmt::format("no column is called weight; ignored: {0} (--columns src,dst,{0} "
                                           "takes {0} for the weight)",
                                           name)});
    for (const auto& options :
         {ConvertOptions{.columns = "src,dst," + name}, ConvertOptions{.columns = "1,2,3"}}) {
      const TableEdges taken = read_table_of(converter, text, options);
      CHECK(taken.edges == Texts{"10>11=3"});
      CHECK(taken.notes.empty());
    }
    CHECK(read_table_of(converter, text, {.weights = false}).notes.empty());
  }
}

TEST_CASE("two columns of one name are refused, and numbers choose one") {
  const Converter converter;
  const auto error = [&](const std::string& header, const std::string& columns = "") {
    return converter.error("t.csv", header + "\n10,11,3,4\n", {.columns = columns});
  };
  CHECK(error("src,dst,weight,weight") ==
        "line 1, column 1: columns 3 (weight) and 4 (weight) may both be "
        "the weight: choose by number, such as --columns 1,2,3");
  CHECK(contains(error("dst,src,WEIGHT,weight"),
                 "columns 3 (WEIGHT) and 4 (weight) may both be the weight: "
                 "choose by number, such as --columns 2,1,3"));
  CHECK(contains(error("src,from,dst,x"),
                 "columns 1 (src) and 2 (from) may both be the source: choose by "
                 "number, such as --columns 1,3"));
  CHECK(contains(error("src,dst,to,x"), "may both be the target"));
  CHECK(contains(error("src,dst,weight,weight", "src,dst,weight"),
                 "--columns: columns 3 and 4 are both called weight: choose them by number"));
  CHECK(contains(converter.error("t.csv", "1,9,9\n", {.columns = "1,9"}),
                 "no column 9; its columns are 1, 9, 9"));
  const auto taken = [&](const std::string& header, const std::string& columns) {
    return read_table_of(converter, header + "\n10,11,3,4\n", {.columns = columns}).edges;
  };
  CHECK(taken("src,dst,weight,weight", "1,2,4") == Texts{"10>11=4"});
  CHECK(taken("src,dst,WEIGHT,weight", "src,dst,weight") == Texts{"10>11=4"});
  CHECK(read_table_of(converter, "src,dst,weight,weight\n10,11,3,4\n", {.weights = false}).edges ==
        Texts{"10>11"});
}

TEST_CASE("headers that do not tell the edges are refused") {
  const Converter converter;
  for (const std::string header : {"src,b", "a,to", "weight,a", "a", "1x,2", "a,-7", ",a"}) {
    CAPTURE(header);
    CHECK(contains(converter.error("t.csv", header + "\n1,2\n"), "which columns hold the edges?"));
  }
}

TEST_CASE("a column Type that says Undirected is told of, and edges stay as they stand there") {
  const Converter converter;
  const std::string head = "Source,Target,Type\n";
  const auto notes = [&](const std::string& rows, const ConvertOptions& options = {}) {
    return read_table_of(converter, head + rows, options).notes;
  };
  const std::string all = "1,2,Undirected\n2,3,undirected\n", mixed = "1,2,Undirected\n2,3,Directed\n3,1,\n";
  CHECK(read_table_of(converter, head + all).edges == Texts{"1>2", "2>3"});
  const Texts said = {
      "all edges are Undirected by their column Type, but each is stored one way, as it stands "
      "there: --undirected stores each both ways"};
  CHECK(notes(all) == said);
  CHECK(notes(all, {.columns = "1,2"}).empty() == false);
  CHECK(notes(all, {.labels = true, .columns = "source,target"}) == said);
  CHECK(notes(all, {.undirected = true}).empty());
  CHECK(notes("1,2,Directed\n").empty());
  REQUIRE(notes(mixed).size() == 1);
  CHECK(notes(mixed)[0].starts_with("1 of 3 edges are Undirected by their column Type"));
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += fmt::format("{},{},Undirected\n", i, i + 1);
  CHECK(notes(many, {.workers = 3}) == said);
}

TEST_CASE("the first line may say the separator") {
  const Converter converter;
  const Texts edges = {"10>11=1.5"};
  for (const char separator : {';', ',', '|', '\t', ' ', ':'}) {
    const std::string rows = fmt::format("src{0}dst{0}weight\n10{0}11{0}1.5\n", separator);
    for (const std::string& line :
         {fmt::format("sep={}\n", separator), fmt::format("SEP={}\r\n", separator),
          fmt::format("\"sep={}\"\n", separator), fmt::format("\xEF\xBB\xBFsep={}\n", separator)}) {
      CAPTURE(line);
      CHECK(read_table_of(converter, line + rows).edges == edges);
    }
  }
  CHECK(read_table_of(converter, "sep=;\n10;11;1.5\n").edges == edges);
  CHECK(read_table_of(converter, "sep=,\n10,11,1.5\n").edges == edges);
  CHECK(read_table_of(converter, "sep=;\na,b;c;d\n1;10;11\n", {.columns = "2,3"}).edges == Texts{"10>11"});
  CHECK(edges_of(converter("noname", "sep=;\nsrc;dst\n0;1\n")) == std::vector<Edge>{{0, 1, 0}});
  CHECK(contains(converter.error("t.csv", "sep=;\n"), "no header and no rows"));
  // Beside names a first line without known columns may be an edge.
  CHECK(contains(converter.error("t.csv", "sep=;\nu;v\nbob;carol\n", {.labels = true}), "--columns 1,2"));
  CHECK(converter("t.csv", "sep=;\nann;bob\nbob;carol\n", {.labels = true}).edges() == 2);
  CHECK(converter("t.csv", "sep=;\nann;bob\nbob;carol\n", {.labels = true, .columns = "1,2"}).edges() == 2);
  CHECK(converter("t.csv", "sep=;\nsource;target\nann;bob\n", {.labels = true}).edges() == 1);
  CHECK(contains(converter.error("t.csv", "sep=1\n1,2\n"), "which columns"));
}

TEST_CASE("ids of a table and of an edge list have up to 64 bits") {
  const Converter converter;
  const std::string rows =
      "20000000,1\n1,4294967295\n4294967296,9223372036854775808\n"
      "18446744073709551614,18446744073709551615\n";
  const Texts edges = {"1>4294967295", "20000000>1", "4294967296>9223372036854775808",
                       "18446744073709551614>18446744073709551615"};
  CHECK(read_table_of(converter, "source,target\n" + rows).edges == edges);
  CHECK(read_table_of(converter, rows).edges == edges);
}

}  // namespace edgewire::graph
