// The limits of `--verify`: right results keep them, wrong ones do not.
#include "kernels/check/reference.h"

#include <cmath>
#include <limits>
#include <random>

#include "dense_test.h"

namespace edgewire::kernels {
namespace {

using graph::Edge;

/// Edges from vertex 0 to all others (`out`), or back (`in`).
std::vector<Edge> star(std::uint32_t leaves, bool out, bool in) {
  std::vector<Edge> edges;
  for (std::uint32_t leaf = 1; leaf <= leaves; ++leaf) {
    if (out) edges.emplace_back(0, leaf, 0.1F * static_cast<float>(leaf % 7 + 1));
    if (in) edges.emplace_back(leaf, 0, 0.3F * static_cast<float>(leaf % 5 + 1));
  }
  return edges;
}

std::vector<Edge> random_edges(std::uint32_t vertices, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::uint32_t>(random() % vertices);
    edges.emplace_back(from, static_cast<std::uint32_t>(random() % vertices),
                       0.1F * static_cast<float>(random() % 9 + 1));
  }
  return edges;
}

PageRankOptions options_for(const Graph& graph) {
  PageRankOptions options;
  options.weighted = graph.weighted();
  return options;
}

template <class Offered>
std::vector<double> ranks(const Graph& graph, int iterations) {
  return run(graph, PageRank<Offered>(options_for(graph), graph.vertices()), iterations);
}

/// Whether these ranks, after so many iterations, pass for those of the graph.
bool pass(const Graph& graph, const std::vector<double>& ranks, int iterations, bool doubles) {
  const Rounding rounding{.doubles = doubles};
  return compare(reference_ranks(graph, options_for(graph), iterations, {}, rounding), ranks, rounding)
      .passed();
}

TEST_CASE("right ranks and products keep the limits on a star of many leaves") {
  constexpr std::uint32_t kLeaves = 100000;
  const std::vector<VertexId> sources{0, 1, VertexId(kLeaves)};
  for (const bool weighted : {false, true}) {
    for (const auto& [out, in] : {std::pair(true, false), {false, true}, {true, true}}) {
      const File file(kLeaves + 1, star(kLeaves, out, in), weighted);
      const auto& graph = file.graph;
      CHECK(pass(graph, ranks<float>(graph, 20), 20, false));
      CHECK(pass(graph, ranks<double>(graph, 20), 20, true));
      const Rounding doubles{.doubles = true};
      const auto options = options_for(graph);
      CHECK(compare(reference_ranks(graph, options, 20, {sources}, doubles),
                    run(graph, Ppr<double>(options, {sources}), 20), doubles)
                .passed());
      CHECK(compare(reference_spmv(graph, {}, 5, {}), run(graph, Spmv<float>({}), 5), {}).passed());
      CHECK(
          compare(reference_spmv(graph, {}, 5, doubles), run(graph, Spmv<double>({}), 5), doubles).passed());
    }
  }
}

TEST_CASE("the limit of a rank grows with the edges into the vertex, and with no others") {
  const Rounding doubles{.doubles = true};
  const File file(100002, star(100000, false, true), false);  // and a vertex without edges
  PageRankOptions options;
  const auto expected = reference_ranks(file.graph, options, 1, {}, doubles);
  CHECK(expected.longest_sum == 100000);
  CHECK(expected.limits[0] / expected.values[0] == doctest::Approx(100000 * 0x1p-53).epsilon(0.1));
  for (const std::size_t v : {1U, 100000U, 100001U})
    CHECK(expected.limits[v] / expected.values[v] < 10 * 0x1p-53);
  CHECK(message_bound(file.graph, options, 1, doubles) < 10 * 0x1p-53);
}

TEST_CASE("ranks that are off by more than their limit are refused") {
  constexpr std::uint32_t n = 500;
  for (const bool weighted : {false, true}) {
    const File file(n, random_edges(n, 4000, 3), weighted);
    for (const auto wire : {plan::Encoding::f32, plan::Encoding::f64, plan::Encoding::u16}) {
      const Rounding rounding{.doubles = wire == plan::Encoding::f64, .wire = wire};
      const auto expected = reference_ranks(file.graph, options_for(file.graph), 20, {}, rounding);
      for (const std::size_t v : {std::size_t{0}, std::size_t{77}, std::size_t{n - 1}}) {
        auto values = expected.values;
        values[v] += 0.9 * expected.limits[v];
        CHECK(compare(expected, values, rounding).passed());
        values[v] = expected.values[v] - 1.1 * expected.limits[v];
        const auto found = compare(expected, values, rounding);
        CHECK(!found.passed());
        CHECK(found.farthest == v);
        CHECK(found.limit_share == doctest::Approx(1.1).epsilon(0.02));  // as near as doubles are
        values[v] = std::numeric_limits<double>::quiet_NaN();
        values[0] = std::numeric_limits<double>::infinity();
        CHECK(!compare(expected, values, rounding).passed());
      }
    }
  }
}

TEST_CASE("ranks and products of a graph that lacks an edge are refused") {
  constexpr std::uint32_t kVertices = 60;
  const auto edges = random_edges(kVertices, 300, 8);
  const File whole(kVertices, edges, true);
  const Rounding doubles{.doubles = true}, bytes{.wire = plan::Encoding::f16};
  CHECK(pass(whole.graph, ranks<float>(whole.graph, 20), 20, false));
  for (std::size_t lacking = 0; lacking < edges.size(); lacking += 7) {
    auto others = edges;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(lacking));
    const File file(kVertices, others, true);
    CHECK(!pass(whole.graph, ranks<float>(file.graph, 20), 20, false));
    CHECK(!pass(whole.graph, ranks<double>(file.graph, 20), 20, true));
    const auto options = options_for(whole.graph);
    CHECK(!compare(reference_ranks(whole.graph, options, 20, {}, bytes), ranks<float>(file.graph, 20), bytes)
               .passed());
    CHECK(!compare(reference_spmv(whole.graph, {}, 3, doubles), run(file.graph, Spmv<double>({}), 3), doubles)
               .passed());
    CHECK(!compare(reference_spmv(whole.graph, {}, 3, {}), run(file.graph, Spmv<float>({}), 3), {}).passed());
  }
}

TEST_CASE("terms of both signs are measured by their magnitudes") {
  const Rounding doubles{.doubles = true};
  // 0.1F + 0.2F - 0.3F is almost 0: what is left is rounding.
  const File file(4, {{0, 3, 0.1F}, {1, 3, 0.2F}, {2, 3, -0.3F}}, true);
  CHECK(compare(reference_spmv(file.graph, {}, 1, doubles), run(file.graph, Spmv<double>({}), 1), doubles)
            .passed());
  const std::vector<double> x{1.1, 1.1, 1.1, 0};
  CHECK(compare(reference_spmv(file.graph, x, 1, {}), run(file.graph, Spmv<float>(x), 1), {}).passed());
}

TEST_CASE("limits that are above the values show nothing, and nothing passes") {
  const File file(60, random_edges(60, 300, 8), true);
  PageRankOptions options = options_for(file.graph);
  options.damping = 0.999;
  const Rounding coarse{.wire = plan::Encoding::bf16};
  const auto expected = reference_ranks(file.graph, options, 2000, {}, coarse);
  const auto found = compare(expected, expected.values, coarse);
  CHECK(found.limit_share == 0);
  CHECK(found.sum_limit > 1);
  CHECK(!found.conclusive);
  CHECK(!found.passed());
  CHECK(found.unchecked > 0);
  CHECK(compare(reference_ranks(file.graph, options, 20, {}, coarse), expected.values, coarse).unchecked ==
        0);

  // Floats of this size have a few bits, doubles have all.
  const std::vector<double> tiny(60, 1e-45), none(60, 0);
  const Rounding doubles{.doubles = true};
  CHECK(
      !compare(reference_spmv(file.graph, tiny, 1, {}), run(file.graph, Spmv<float>(tiny), 1), {}).passed());
  CHECK(compare(reference_spmv(file.graph, tiny, 1, doubles), run(file.graph, Spmv<double>(tiny), 1), doubles)
            .passed());
  const auto zeros = compare(reference_spmv(file.graph, none, 1, {}), none, {});
  CHECK(zeros.passed());
  CHECK(zeros.sum_limit == 0);
}

TEST_CASE("what rounding of messages can do in sum") {
  PageRankOptions options;
  const File one(2, {{0, 1, 1}}, false), many(100002, star(100000, true, true), false);
  constexpr double kFloat = 3 * 0x1p-24, kDouble = 3 * 0x1p-53;
  CHECK(message_bound(one.graph, options, 1, {}) == doctest::Approx(0.85 * kFloat).epsilon(1e-4));
  CHECK(message_bound(one.graph, options, 1000, {}) == doctest::Approx(0.85 / 0.15 * kFloat).epsilon(1e-4));
  CHECK(message_bound(one.graph, options, 1, {.doubles = true}) ==
        doctest::Approx(0.85 * kDouble + 4 * 0x1p-53).epsilon(1e-4));
  CHECK(message_bound(one.graph, options, 1, {.wire = plan::Encoding::bf16}) ==
        doctest::Approx(0.85 * 2 / 255).epsilon(1e-3));
  CHECK(message_bound(one.graph, options, 1, {.wire = plan::Encoding::bf16, .legs = 2}) ==
        doctest::Approx(0.85 * (4.0 / 255 + 4.0 / 255 / 255)).epsilon(1e-3));
  CHECK(message_bound(one.graph, options, 0, {}) == 0);
  // Values that are too small for f16 lose a fixed amount, on each edge.
  const Rounding f16{.wire = plan::Encoding::f16};
  CHECK(message_bound(many.graph, options, 1, f16) - message_bound(one.graph, options, 1, f16) ==
        doctest::Approx(0.85 * (200000 - 1) * 0x1p-38).epsilon(1e-3));
  CHECK(spmv_message_bound(2, {}) == doctest::Approx(4 * 0x1p-24).epsilon(1e-4));
}

}  // namespace
}  // namespace edgewire::kernels
