// Damaged lists that belong to a graph: who owns its vertices, what they are called, and where a run starts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../unit/graph_test.h"
#include "base/checksum.h"
#include "base/error.h"
#include "cli/sources.h"
#include "fuzz.h"
#include "graph/convert.h"
#include "graph/file/vertex_names.h"
#include "partition/ownership.h"

namespace edgewire::graph {

namespace {

/// A graph of six vertices with names, or with ids that have gaps.
struct NamedGraph {
  TemporaryDirectory folder;
  Graph graph;

  explicit NamedGraph(const std::string& edges, bool labels)
      : graph([&] {
          write_file(folder / "g.txt", edges);
          convert(folder / "g.txt", folder / "g.ew", {.format = Format::snap, .labels = labels});
          return Graph::open(folder / "g.ew");
        }()) {}
};

const char* const kNames = "Ada\tBob\nBob\t# C\n# C\tD d\n\"5\"\tAda\n\xC3\xA9\t5\n";

TEST_CASE("damaged partition files") {
  const TemporaryDirectory folder;
  const std::vector<std::uint64_t> offsets(7);
  fuzz::feed({.name = "partition", .read = [&](const fuzz::Input& input) {
                write_file(folder / "parts", input.bytes);
                const auto ownership = partition::Ownership::create(folder / "parts", offsets, 3);
                std::uint64_t owned = 0;
                for (std::uint32_t p = 0; p < 3; ++p) owned += ownership.count(p);
                CHECK(owned == 6);
                std::string owners;
                for (VertexId v{}; v < 6; ++v) {
                  const auto home = ownership.home(v);
                  CHECK(ownership.vertex(home.owner, home.local) == v);
                  owners += fmt::format("{} ", home.owner);
                }
                return owners;
              }});
}

TEST_CASE("damaged tables of names") {
  const NamedGraph named(kNames, true);
  const std::string path = named.folder / "g.ew.labels", whole = read_file(path);
  const std::size_t header = whole.find('\n') + 1;
  REQUIRE(header > 17);
  fuzz::feed({.name = "labels",
              .read =
                  [&](const fuzz::Input& input) {
                    std::string bytes = input.bytes;
                    // Half of them have the first line that belongs to them.
                    const std::size_t names = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
                    if (input.turn % 2 == 0 && !bytes.empty())
                      bytes = whole.substr(0, header - 17) +
                              fmt::format("{:016x}\n", checksum(bytes.data() + names, bytes.size() - names)) +
                              bytes.substr(names);
                    write_file(path, bytes);
                    const VertexNames found(named.graph);
                    std::string text;
                    for (VertexId v{}; v < named.graph.vertices(); ++v) {
                      const std::string name = found(v);
                      CHECK(!name.empty());
                      CHECK(found.find(name).value() <= v);
                      text += name + "\n";
                    }
                    if (input.turn % 2 == 1) CHECK(bytes == whole);
                    CHECK(!found.find("nobody has this name"));
                    return text;
                  },
              .seeds = {whole},
              .ways = 2});
}

/// The texts of the corpus are read as lists of vertices with and without shares, and as values.
std::string read_list(const Graph& graph, const std::string& path, const fuzz::Input& input) {
  be_quiet();
  write_file(path, input.bytes);
  if (input.turn % 3 == 2) return fmt::format("{}", cli::named_values(graph, path, 1e30, "use f64"));
  std::vector<double> shares;
  const auto found =
      cli::named_vertices(graph, "@" + path, "--sources", input.turn % 3 == 1 ? &shares : nullptr);
  CHECK(!found.empty());
  CHECK(std::ranges::is_sorted(found));
  CHECK(std::ranges::adjacent_find(found) == found.end());
  CHECK((shares.empty() || shares.size() == found.size()));
  for (const double share : shares) CHECK(share > 0);
  std::string text = fmt::format("{}:", shares);
  for (const VertexId v : found) text += fmt::format(" {}", PlainId{v});
  return text;
}

TEST_CASE("damaged lists of vertices and values by numbers") {
  const NamedGraph graph("3 5 1\n5 900 2\n900 3 1\n18446744073709551615 7 1\n", false);
  fuzz::feed(
      {.name = "vertices",
       .read = [&](const fuzz::Input& input) { return read_list(graph.graph, graph.folder / "list", input); },
       .ways = 3});
}

TEST_CASE("damaged lists of vertices and values by names") {
  const NamedGraph graph(kNames, true);
  fuzz::feed(
      {.name = "vertices",
       .read = [&](const fuzz::Input& input) { return read_list(graph.graph, graph.folder / "list", input); },
       .ways = 3});
}

}  // namespace

}  // namespace edgewire::graph
