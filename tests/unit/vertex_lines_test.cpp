#include <cstdint>
#include <limits>
#include <vector>

#include "graph_test.h"
#include "runs/values.h"

namespace edgewire::runs {

TEST_CASE("lines of results name vertices and say what is unreached") {
  using Form = Values::Form;
  graph::TemporaryDirectory folder;
  graph::build(folder / "g.ew", 3, {}, {}, {5'000'000'000, 7, 9});
  const auto graph = graph::GraphFile::open(folder / "g.ew");
  const auto lines = [&](const std::vector<VertexId>& vertices, Form form, auto numbers, int digits = 17) {
    using Number = typename decltype(numbers)::value_type;
    return lines_of(graph, vertices, {form, std::span<const Number>(numbers), digits});
  };
  CHECK(lines({0, 2}, Form::level, std::vector<std::uint32_t>{4'000'000'000, 0xffffffff}) ==
        "5000000000\t4000000000\n9\t9223372036854775807\n");
  CHECK(lines({0, 1, 2}, Form::distance,
              std::vector{0.1F, std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()}) ==
        "5000000000\t0.1\n7\t3.4028235e+38\n9\tinfinity\n");
  CHECK(lines({0, 1, 2}, Form::distance,
              std::vector{0.1 + 0.2, 1e300, std::numeric_limits<double>::infinity()}) ==
        "5000000000\t0.30000000000000004\n7\t1e+300\n9\tinfinity\n");
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  CHECK(lines({0, 1, 2}, Form::distance, std::vector<std::uint64_t>{16'777'219, kMost - 2, kMost}) ==
        "5000000000\t16777219\n7\t18446744073709551613\n9\tinfinity\n");
  CHECK(lines({1, 2}, Form::vertex, std::vector<PlainId>{0, kNoVertex}) == "7\t5000000000\n9\t-1\n");
  CHECK(lines({1}, Form::number, std::vector{1.0 / 3}, 9) == "7\t0.333333333\n");
  CHECK(lines_of_all(graph, {Form::number, std::span<const double>(std::vector{0.5, 2.0, 1e9})}) ==
        "5000000000\t0.5\n7\t2\n9\t1000000000\n");
}

}  // namespace edgewire::runs
