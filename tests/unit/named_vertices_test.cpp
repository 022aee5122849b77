#include "cli/sources.h"

#include "base/error.h"
#include "graph_test.h"

namespace edgewire::cli {
namespace {

using graph::error_of;
using graph::write_file;
using Vertices = std::vector<VertexId>;

std::string from_file(const std::string& path) { return std::string("@").append(path); }

TEST_CASE("vertices are named by the ids of the converted file, in an option or a file") {
  const graph::TemporaryDirectory folder;
  graph::build(folder / "g.ew", 12, {}, {}, {50, 40, 30, 20, 10, 9, 8, 7, 6, 5, 4, 0});
  const auto graph = Graph::open(folder / "g.ew");
  CHECK(named_vertices(graph, "10,50", "--sources") == Vertices{0, 4});
  write_file(folder / "few", "# three\n\n 20 \r\n50\n007");
  CHECK(named_vertices(graph, from_file(folder / "few"), "--sources") == Vertices{0, 3, 7});
  write_file(folder / "many", "00\n4\n5\n6\n7\n8\n9\n010\n20\n30\n");
  CHECK(named_vertices(graph, from_file(folder / "many"), "--sources") ==
        Vertices{2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("names that are missing, unknown or given twice are refused with their line") {
  const graph::TemporaryDirectory folder;
  const std::string path = folder / "g.ew";
  graph::build(path, 3, {}, {});
  const auto graph = Graph::open(path);
  const auto error = [&](const std::string& list) {
    return error_of([&] { named_vertices(graph, list, "--sources"); });
  };
  CHECK(error("") == "--sources: '' has an empty item");
  CHECK(error("1,2,1") == "--sources: 1 is given twice");
  CHECK(error("1,01") == "--sources: vertex 01 is given twice");
  CHECK(error("1,3") == "--sources: " + path + " has no vertex 3");
  CHECK(error("-1") == "--sources: " + path + " has no vertex -1");
  const std::string file = folder / "names";
  write_file(file, "0\n\n2\n0\n");
  CHECK(error(from_file(file)) == file + ": line 4: vertex 0 is given twice");
  write_file(file, "0\n#\n1 2\n");
  CHECK(error(from_file(file)) == file + ": line 3: " + path + " has no vertex 1 2");
  write_file(file, "# none\n");
  CHECK(error(from_file(file)) == file + ": no vertex is named: --sources needs one");
}

TEST_CASE("values of vertices are read as results are written") {
  const graph::TemporaryDirectory folder;
  graph::build(folder / "g.ew", 3, {}, {}, {7, 8, 9});
  const auto graph = Graph::open(folder / "g.ew");
  const std::string file = folder / "x";
  const auto values = [&](const std::string& text) {
    write_file(file, text);
    return named_values(graph, file, 1e10, "the remedy");
  };
  CHECK(values("9\t-1.5e3\n7 0.25\n") == std::vector<double>{0.25, 0, -1500});
  CHECK(values("") == std::vector<double>{0, 0, 0});
  const auto error = [&](const std::string& text) { return error_of([&] { values(text); }); };
  CHECK(error("7\n") == file + ": line 1: 7 is no vertex and value");
  CHECK(error("7 1\n8 1x\n") == file + ": line 2: 1x is no finite number");
  CHECK(error("7 nan\n") == file + ": line 1: nan is no finite number");
  CHECK(error("7 -2e10\n") == file + ": line 1: -2e10 is too large: the remedy");
  CHECK(error("7 1\n7 1\n") == file + ": line 2: vertex 7 is given twice");
}

}  // namespace
}  // namespace edgewire::cli
