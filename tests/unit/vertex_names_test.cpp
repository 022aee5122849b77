#include "graph/file/vertex_names.h"

#include <cstring>

#include "graph/convert.h"
#include "graph/file/format.h"
#include "graph_test.h"

namespace edgewire::graph {

namespace {

/// A graph without edges that needs a table of names; the checksum for the table.
std::uint64_t build_labelled(const std::string& path, std::uint64_t vertices) {
  OutputFile output(path);
  Builder builder(vertices, 0, {});
  return builder.write(output, {}, kLabels, {}).checksum;
}

void write_names(const std::string& graph, const std::vector<std::string>& names, std::uint64_t checksum) {
  OutputFile table(labels_path(graph));
  const std::vector<std::string_view> views(names.begin(), names.end());
  write_labels_header(table, names.size(), checksum, write_labels(table, views));
  table.commit();
}

std::string appended(const VertexNames& names, VertexId vertex) {
  fmt::memory_buffer text;
  names.append(text, vertex);
  return fmt::to_string(text);
}

}  // namespace

TEST_CASE("names of vertices come back from the table beside the graph") {
  const TemporaryDirectory directory;
  const std::string path = directory / "g.ew";
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i)
    names.push_back(std::string(static_cast<std::size_t>(i % 7 + 1), 'a') + std::to_string(i));
  names[16] = "a b, \"c\" \xC3\xA9";
  write_names(path, names, build_labelled(path, names.size()));
  const Graph graph = Graph::open(path);
  const VertexNames of(graph);
  CHECK(of.labelled());
  for (VertexId v{}; v < names.size(); ++v) {
    REQUIRE(of.label(v) == names[v]);
    REQUIRE(of(v) == names[v]);
    REQUIRE(appended(of, v) == names[v]);
  }
}

TEST_CASE("a link to a graph has the names beside the graph, or its own") {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory / "store");
  const std::string path = directory / "store/g.ew", link = directory / "link.ew";
  const auto checksum = build_labelled(path, 2);
  std::filesystem::create_symlink(path, link);
  write_names(link, {"one", "two"}, checksum);
  CHECK(!std::filesystem::exists(link + ".labels"));
  for (const std::string& name : {path, link}) CHECK(appended(VertexNames(Graph::open(name)), 1) == "two");
  std::filesystem::rename(path + ".labels", link + ".labels");
  CHECK(appended(VertexNames(Graph::open(link)), 1) == "two");
}

TEST_CASE("a graph without vertices has an empty table") {
  const TemporaryDirectory directory;
  const std::string path = directory / "g.ew";
  write_names(path, {}, build_labelled(path, 0));
  CHECK(VertexNames(Graph::open(path)).labelled());
}

TEST_CASE("without a table names are ids, whatever lies beside the graph") {
  const TemporaryDirectory directory;
  build(directory / "g.ew", 3, {{0, 1, 0}}, {}, {7, 1'000'000'000'000, 1'000'000'000'001});
  write_file(directory / "g.ew.labels", "of an older graph");
  const Graph graph = Graph::open(directory / "g.ew");
  const VertexNames of(graph);
  CHECK(!of.labelled());
  CHECK(of(0) == "7");
  CHECK(appended(of, 1) == "1000000000000");
}

TEST_CASE("a table that is missing, damaged or another graph's is refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "g.ew";
  const std::string table = labels_path(path);
  const std::uint64_t checksum = build_labelled(path, 3);
  const Graph graph = Graph::open(path);
  const auto message = [&] { return error_of([&] { const VertexNames names(graph); }); };
  CHECK(contains(message(), table + ": the file is missing"));
  write_names(path, {"x", "yy", "z"}, checksum + 1);
  CHECK(contains(message(), "another graph"));
  write_names(path, {"x", "yy"}, checksum);
  CHECK(contains(message(), "another graph"));
  write_names(path, {"x", "", "z"}, checksum);
  CHECK(contains(message(), "line 3: a name is empty"));
  write_names(path, {"x", "y", "z\nzz"}, checksum);
  CHECK(contains(message(), "4 names for 3 vertices"));
  write_names(path, {"x", "yy", "z"}, checksum);
  const std::string whole = read_file(table);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    write_file(table, bytes);
    REQUIRE(contains(message(), table));
    write_file(table, whole.substr(0, at));
    REQUIRE(contains(message(), table));
  }
  write_file(table, whole);
  CHECK(VertexNames(graph)(2) == "z");
}

TEST_CASE("vertices are found by their names, from a table, from the converted file or by number") {
  const TemporaryDirectory directory;
  const std::string table = directory / "table.ew";
  std::vector<std::string> words;
  for (int i = 0; i < 40; ++i) words.push_back("name " + std::to_string(i));
  write_names(table, words, build_labelled(table, words.size()));
  build(directory / "ids.ew", 3, {}, {}, {5'000'000'000, 7, 9});
  build(directory / "plain.ew", 3, {}, {});
  build(directory / "empty.ew", 0, {}, {});
  const auto found = [&](const std::string& file, const char* name) {
    const Graph graph = Graph::open(directory / file);
    return static_cast<int>(VertexNames(graph).find(name).value_or(VertexId{99}));
  };
  CHECK(found("table.ew", "name 0") == 0);
  CHECK(found("table.ew", "name 39") == 39);
  CHECK(found("table.ew", "name") == 99);
  CHECK(found("table.ew", "3") == 99);
  CHECK(found("ids.ew", "5000000000") == 0);
  CHECK(found("ids.ew", "9") == 2);
  CHECK(found("ids.ew", "0") == 99);
  CHECK(found("plain.ew", "2") == 2);
  for (const char* none : {"3", "-1", "1x", "x", "", " 1", "99999999999999999999999"})
    CHECK(found("plain.ew", none) == 99);
  CHECK(found("empty.ew", "0") == 99);
}

TEST_CASE("the names of a graph without a name are in a file without a name, or there are none") {
  const TemporaryDirectory directory;
  write_file(directory / "in.txt", "b a\na c\n");
  ConvertOptions options;
  options.labels = true;
  for (const bool wanted : {true, false}) {
    const auto output = OutputFile::nameless(directory / "."), table = OutputFile::nameless(directory / ".");
    if (wanted) options.table = table.get();
    convert(directory / "in.txt", *output, options);
    options.table = nullptr;
    Graph graph = Graph::open(output->path_for_others(), "in.txt");
    CHECK(graph.labelled() == wanted);
    if (wanted) graph.set_table(table->path_for_others());
    const VertexNames names(graph);
    CHECK(names(0) == (wanted ? "a" : "0"));
    CHECK(names(2) == (wanted ? "c" : "2"));
  }
  CHECK(directory.files() == 1);
}

TEST_CASE("a table that is not committed leaves nothing") {
  const TemporaryDirectory directory;
  const std::vector<std::string_view> names = {"x"};
  {
    OutputFile table(labels_path(directory / "g.ew"));
    write_labels(table, names);
  }
  CHECK(directory.files() == 0);
}

}  // namespace edgewire::graph
