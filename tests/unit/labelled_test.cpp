#include <fmt/core.h>

#include "graph/convert.h"
#include "graph/file/vertex_names.h"
#include "graph_test.h"

namespace edgewire::graph {

namespace {

using NamedEdge = std::tuple<std::string, std::string, float>;

/// Converts a text with --labels.
class Labelled {
 public:
  explicit Labelled(int workers = 2) {
    options_.labels = options_.allow_empty = true, options_.workers = workers;
  }

  Graph operator()(const std::string& text) const {
    write_file(directory_ / "in.txt", text);
    convert(directory_ / "in.txt", directory_ / "g.ew", options_);
    return Graph::open(directory_ / "g.ew");
  }
  std::vector<NamedEdge> edges(const std::string& text) const {
    const Graph graph = (*this)(text);
    const VertexNames names(graph);
    std::vector<NamedEdge> edges;
    for (const auto& [source, target, weight] : edges_of(graph))
      edges.emplace_back(names(VertexId(source)), names(VertexId(target)), weight);
    return edges;
  }
  /// The message without the path; nothing is left behind.
  std::string error(const std::string& text) const {
    const std::string message = error_of([&] { (*this)(text); });
    CHECK(directory_.files() == 1);
    return message.substr((directory_ / "in.txt: ").size());
  }

  const TemporaryDirectory& directory() const { return directory_; }
  ConvertOptions& options() { return options_; }

 private:
  TemporaryDirectory directory_;
  ConvertOptions options_;
};

}  // namespace

TEST_CASE("names come back, whatever separates them") {
  const std::vector<NamedEdge> edges = {{"alice", "\xC3\x89va", 0}, {"bob", "alice", 0}};
  const Labelled labelled;
  CHECK(labelled.edges("bob alice\nalice \xC3\x89va\n") == edges);
  CHECK(labelled.edges("\xEF\xBB\xBF# c\n% c\n//\n\nbob \t alice\r\nalice\t\xC3\x89va") == edges);
  CHECK(labelled.edges("bob,alice\nalice , \xC3\x89va\n") == edges);
  CHECK(labelled.edges("\"bob\" \"alice\"\n\"alice\" \xC3\x89va\n") == edges);
}

TEST_CASE("tabs and commas let names hold blanks, quotes let them hold anything") {
  const Labelled labelled;
  CHECK(labelled.edges("a b\tc, d\t1.5\n") == std::vector<NamedEdge>{{"a b", "c, d", 1.5F}});
  CHECK(labelled.edges("5\" pipe,steel\n") == std::vector<NamedEdge>{{"5\" pipe", "steel", 0}});
  std::string head;  // longer than what is looked at ahead
  while (head.size() < 200'000) head += "# a comment\n";
  CHECK(labelled.edges(head + "a b\tc d\n") == std::vector<NamedEdge>{{"a b", "c d", 0}});
  CHECK(labelled.edges("a b,c\n") == std::vector<NamedEdge>{{"a b", "c", 0}});
  CHECK(labelled.edges("\"a, \"\"b\"\"\",\"#c\",+2\n") == std::vector<NamedEdge>{{"a, \"b\"", "#c", 2}});
}

TEST_CASE("vertices are the names in order of their bytes, for any number of workers") {
  std::string text;
  for (std::uint64_t i = 0; i < 150'000; ++i)
    text += fmt::format("n{} n{}\n", i * 7919 % 50'000, i * 104'729 % 50'021);
  const Labelled one(1);
  const Labelled many(5);
  const Graph graph = one(text);
  CHECK(graph.edges() == 150'000);
  const VertexNames names(graph);
  for (std::uint32_t v = 1; v < graph.vertices(); ++v) REQUIRE(names(VertexId(v - 1)) < names(VertexId(v)));
  many(text);
  for (const std::string file : {"g.ew", "g.ew.labels"})
    CHECK(read_file(one.directory() / file) == read_file(many.directory() / file));
}

TEST_CASE("a file of vertices adds names without edges") {
  Labelled labelled;
  labelled.options().vertices = labelled.directory() / "v.txt";
  write_file(labelled.options().vertices, "zoe\na\n");
  const Graph graph = labelled("a b\n");
  CHECK(graph.vertices() == 3);
  CHECK(graph.edges() == 1);
  CHECK(VertexNames(graph)(2) == "zoe");
}

TEST_CASE("without weights the third field may be anything") {
  Labelled labelled;
  CHECK(contains(labelled.error("a b since\n"), "line 1, column 5: expected a weight"));
  labelled.options().weights = false;
  CHECK(labelled.edges("a b since\nb c then\n") == std::vector<NamedEdge>{{"a", "b", 0}, {"b", "c", 0}});
}

TEST_CASE("lines that are no edges are refused") {
  const Labelled labelled;
  CHECK(contains(labelled.error("a\n"), "line 1, column 1: the line ends where the target should be"));
  CHECK(contains(labelled.error("a b\nc d e\n"), "line 2, column 1: 3 fields, but the first edge has 2"));
  CHECK(contains(labelled.error("a b 1\nc d\n"), "2 fields, but the first edge has 3"));
  CHECK(contains(labelled.error("a b 1 2\n"), "4 fields"));
  CHECK(contains(labelled.error("a b\n#c d\n"), "line 2, column 1: a comment has a blank after #"));
  CHECK(contains(labelled.error("a,b\n,b\n"), "line 2, column 1: a name is empty"));
  CHECK(contains(labelled.error("a\tb\n\tb\tc\n"), "a name is empty"));
  CHECK(contains(labelled.error("a,b,\n"), "ends with a separator"));
  CHECK(contains(labelled.error("a,b\na,\"b\n"), "does not end on its line"));
  CHECK(contains(labelled.error("a,b\na,\"b\"c\n"), "text follows the double quote"));
  CHECK(
      contains(labelled.error("a,b,1\na,b,\"1\"\"2\"\n"), "line 2, column 5: expected a weight (a number)"));
  CHECK(contains(labelled.error("a b\nc\x01 d\n"), "line 2, column 2: binary data"));
  CHECK(contains(labelled.error("a,b\nc,d\te\n"), "a name holds a control character"));
  CHECK(contains(labelled.error("a b 1e400\n"), "beyond the range of 64-bit"));
}

TEST_CASE("names of columns do not become an edge") {
  const Labelled labelled;
  CHECK(contains(labelled.error("boss\tclerk\n1\t2\n"), "may be names of columns or an edge"));
  CHECK(contains(labelled.error("u v\na b\n"), "may be names of columns or an edge"));
  const std::vector<NamedEdge> edges = {{"a", "b", 0}}, numbers = {{"1", "2", 0}};
  CHECK(labelled.edges("Source,Target\na,b\n") == edges);
  CHECK(labelled.edges("follower\tfollowed\n1\t2\n") == numbers);
  CHECK(labelled.edges("to;from\nb;a\n") == edges);
  CHECK(labelled.edges("x y amount\na b 1\n") == edges);  // figures below a word
  CHECK(labelled.edges("u v\nv u\n").size() == 2);
  CHECK(labelled.edges("root 1\n1 2\n").size() == 2);
  CHECK(labelled.edges("a b\n").size() == 1);
}

TEST_CASE("names stay with a graph that is converted again") {
  const Labelled labelled;
  labelled("b a\na c\nb a\n");
  ConvertOptions options;
  options.simple = options.undirected = true;
  convert(labelled.directory() / "g.ew", labelled.directory() / "again.ew", options);
  const Graph again = Graph::open(labelled.directory() / "again.ew");
  CHECK(again.edges() == 4);
  CHECK(VertexNames(again)(2) == "c");
}

TEST_CASE("an empty file has no names") {
  const Labelled labelled;
  const Graph graph = labelled("# nothing\n");
  CHECK(graph.vertices() == 0);
  CHECK(VertexNames(graph).labelled());
}

}  // namespace edgewire::graph
