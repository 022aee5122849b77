// Dense kernels in one process: small graphs by hand, and references, which must be right by themselves.
#include <limits>

#include "dense_test.h"
#include "kernels/check/reference.h"

namespace edgewire::kernels {
namespace {

const std::vector<graph::Edge> kWeighted{
    {0, 1, 2.5F}, {1, 2, -1.0F}, {2, 0, 4.0F}, {0, 2, 1.0F}, {3, 0, 1.0F}};
/// Vertex 2 has no edges.
const std::vector<graph::Edge> kTriangle{{0, 1, 0.0F}, {0, 2, 0.0F}, {1, 2, 0.0F}};

TEST_CASE("personalised ranks flow from the sources and return to them") {
  const File file(3, kTriangle, false);
  PageRankOptions options;
  options.damping = 0.5;
  const std::vector<VertexId> first{0}, both{0, 2};
  const std::vector<std::vector<double>> expected{{1, 0, 0}, {0.5, 0.25, 0.25}, {0.625, 0.125, 0.25}};
  for (int iterations = 0; iterations < 3; ++iterations) {
    const auto& ranks = expected[static_cast<std::size_t>(iterations)];
    CHECK(run(file.graph, Ppr<float>(options, {first}), iterations) == ranks);
    CHECK(run(file.graph, Ppr<double>(options, {first}), iterations) == ranks);
    CHECK(reference_ranks(file.graph, options, iterations, {first}, {}).values == ranks);
  }
  // (1 - d + d * 0.5) / 2 to either source
  CHECK(run(file.graph, Ppr<float>(options, {both}), 1) == std::vector<double>{0.375, 0.125, 0.5});
  CHECK(reference_ranks(file.graph, options, 1, {both}, {}).values == std::vector<double>{0.375, 0.125, 0.5});
}

TEST_CASE("personalised ranks return to the sources by their shares") {
  const File file(3, kTriangle, false);
  PageRankOptions options;
  options.damping = 0.5;
  const std::vector<VertexId> sources{0, 2};
  const std::vector<double> shares = relative_shares({12, 4});
  CHECK(shares == std::vector<double>{1, 1.0 / 3});
  const Restarts restarts{sources, shares};
  for (int iterations = 0; iterations < 4; ++iterations) {
    std::vector<double> ranks{0.75, 0, 0.25};
    for (int done = 0; done < iterations; ++done) {  // 0 -> 1, 0 -> 2, 1 -> 2; 2 is dangling
      const double back = 0.5 + 0.5 * ranks[2];
      ranks = {0.75 * back, 0.25 * ranks[0], 0.25 * back + 0.25 * ranks[0] + 0.5 * ranks[1]};
    }
    const auto expected = reference_ranks(file.graph, options, iterations, restarts, {});
    const auto found = run(file.graph, Ppr<float>(options, restarts), iterations);
    CHECK(compare(expected, found, {}).passed());
    const Rounding doubles{.doubles = true};
    const auto exact = run(file.graph, Ppr<double>(options, restarts), iterations);
    CHECK(compare(reference_ranks(file.graph, options, iterations, restarts, doubles), exact, doubles)
              .passed());
    for (std::size_t v = 0; v < 3; ++v) {
      CHECK(expected.values[v] == doctest::Approx(ranks[v]).epsilon(1e-14));
      CHECK(exact[v] == doctest::Approx(ranks[v]).epsilon(1e-14));
    }
  }
  const double infinite = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& wrong : {std::vector{1, 0.0}, {-1}, {1, infinite}, {1e300, 1}})
    CHECK_THROWS_AS(relative_shares(wrong), UsageError);
  CHECK_THROWS_AS((Restarts{sources, {shares.data(), 1}}.check(file.graph)), UsageError);
}

TEST_CASE("personalised ranks are shared out in proportion to weights") {
  const File file(3, {{0, 1, 3.0F}, {0, 2, 1.0F}}, true);
  PageRankOptions options;
  options.damping = 1;
  options.weighted = true;
  const std::vector<VertexId> sources{0};
  const std::vector<double> expected{0, 0.75, 0.25};
  CHECK(run(file.graph, Ppr<float>(options, {sources}), 1) == expected);
  CHECK(reference_ranks(file.graph, options, 1, {sources}, {}).values == expected);
}

TEST_CASE("a product sums the edges into a vertex, times their weights") {
  const File file(4, kWeighted, true);
  const std::vector<std::vector<double>> expected{{5, 2.5, 0, 0}, {0, 12.5, 2.5, 0}, {10, 0, -12.5, 0}};
  for (int iterations = 1; iterations <= 3; ++iterations) {
    const auto& y = expected[static_cast<std::size_t>(iterations - 1)];
    CHECK(run(file.graph, Spmv<float>({}), iterations) == y);
    CHECK(run(file.graph, Spmv<double>({}), iterations) == y);
    CHECK(reference_spmv(file.graph, {}, iterations, {}).values == y);
  }
  const std::vector<double> x{0, 1, 0, -2};
  CHECK(run(file.graph, Spmv<float>(x), 1) == std::vector<double>{-2, 0, -1, 0});
  CHECK(reference_spmv(file.graph, x, 1, {}).values == std::vector<double>{-2, 0, -1, 0});
  const File counted(2, {{0, 1, 0.0F}, {0, 1, 0.0F}}, false);
  CHECK(run(counted.graph, Spmv<float>({}), 1) == std::vector<double>{0, 2});
}

TEST_CASE("errors of products are measured against sums of magnitudes") {
  const File file(4, kWeighted, true);
  const auto scales = reference_spmv(file.graph, {}, 1, {}).scales;
  CHECK(scales[2] == 2);  // 1 - 1 loses all digits of 1 + 1
  CHECK(scales[3] == 0);
}

TEST_CASE("a value that is too large for the precision is counted") {
  const File file(2, {{0, 1, 1e38F}, {0, 1, 1e38F}, {0, 1, 1e38F}, {0, 1, 1e38F}}, true);
  Spmv<float>::Totals floats;
  Spmv<double>::Totals doubles;
  run(file.graph, Spmv<float>({}), 1, &floats);
  run(file.graph, Spmv<double>({}), 1, &doubles);
  CHECK(floats.too_large == 1);
  CHECK(doubles.too_large == 0);
  const std::vector<double> x{1e300, 0};
  run(file.graph, Spmv<double>(x), 1, &doubles);
  CHECK(doubles.too_large == 1);
}

}  // namespace
}  // namespace edgewire::kernels
