#include "runs/vertex_lines.h"

#include <cstdint>
#include <limits>

#include "graph_test.h"

namespace edgewire::runs {

TEST_CASE("lines of results name vertices and say what is unreached") {
  graph::TemporaryDirectory folder;
  graph::build(folder / "g.ew", 3, {}, {}, {5'000'000'000, 7, 9});
  const auto graph = graph::GraphFile::open(folder / "g.ew");
  VertexLines levels(graph);
  levels.add_level(0, 4'000'000'000);
  levels.add_level(2, 0xffffffff);
  CHECK(levels.take() == "5000000000\t4000000000\n9\t9223372036854775807\n");
  VertexLines distances(graph);
  distances.add_distance(0, 0.1F);
  distances.add_distance(1, std::numeric_limits<float>::max());
  distances.add_distance(2, std::numeric_limits<float>::infinity());
  CHECK(distances.take() == "5000000000\t0.1\n7\t3.4028235e+38\n9\tinfinity\n");
  VertexLines finer(graph);
  finer.add_distance(0, 0.1 + 0.2);
  finer.add_distance(1, 1e300);
  finer.add_distance(2, std::numeric_limits<double>::infinity());
  CHECK(finer.take() == "5000000000\t0.30000000000000004\n7\t1e+300\n9\tinfinity\n");
  VertexLines whole(graph);
  whole.add_distance(0, std::uint64_t{16'777'219});
  whole.add_distance(1, std::numeric_limits<std::uint64_t>::max() - 2);
  whole.add_distance(2, std::numeric_limits<std::uint64_t>::max());
  CHECK(whole.take() == "5000000000\t16777219\n7\t18446744073709551613\n9\tinfinity\n");
  VertexLines parents(graph);
  parents.add_vertex(1, 0);
  parents.add_vertex(2, VertexId(0xffffffff));
  CHECK(parents.take() == "7\t5000000000\n9\t-1\n");
  VertexLines numbers(graph);
  numbers.add(1, 1.0 / 3, 9);
  CHECK(numbers.take() == "7\t0.333333333\n");
}

}  // namespace edgewire::runs
