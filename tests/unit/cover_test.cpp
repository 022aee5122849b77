#include "dense/plan/cover.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <utility>

using edgewire::LocalNumber;
using edgewire::plan::minimum_cover;
using edgewire::plan::PairCover;
using edgewire::plan::PairEdges;
using edgewire::plan::PairRow;

namespace {

constexpr std::uint32_t kUntilMinimum = std::numeric_limits<std::uint32_t>::max();

/// Returns how far the cover may be from the minimum, as a fraction of it.
double gap(const PairCover& cover) {
  return static_cast<double>(cover.values() - cover.matching) /
         static_cast<double>(std::max<std::uint64_t>(1, cover.matching));
}

/// Edges by source; row i is source 10 * i, so that a row is never mistaken for its source. In parts of three
/// rows.
class RowGraph {
 public:
  explicit RowGraph(std::uint32_t destinations) : destinations_(destinations) {}
  void add_row(const std::vector<LocalNumber>& targets) { targets_.push_back(targets); }
  std::vector<PairRow> rows() const {
    std::vector<PairRow> rows;
    for (const auto& row : targets_)
      rows.push_back({row.data(), static_cast<std::uint32_t>(row.size()),
                      LocalNumber(static_cast<std::uint32_t>(rows.size()) * 10)});
    return rows;
  }
  PairCover cover(std::uint32_t max_rounds) const {
    const auto all = rows();
    PairEdges edges{{}, static_cast<std::uint32_t>(all.size()) * 10, destinations_};
    for (std::size_t first = 0; first < all.size(); first += 3)
      edges.parts.push_back(std::span(all).subspan(first, std::min<std::size_t>(3, all.size() - first)));
    auto cover = minimum_cover(edges, max_rounds);
    count_moved(edges, cover);
    return cover;
  }

 private:
  std::vector<std::vector<LocalNumber>> targets_;
  std::uint32_t destinations_;
};

PairCover checked_cover(const RowGraph& graph, std::uint32_t max_rounds = kUntilMinimum) {
  auto cover = graph.cover(max_rounds);
  CHECK(std::is_sorted(cover.mirrors.begin(), cover.mirrors.end()));
  CHECK(std::is_sorted(cover.sums.begin(), cover.sums.end()));
  std::uint64_t uncovered = 0;
  std::uint64_t moved = 0, free = 0;
  for (const auto& row : graph.rows()) {
    const bool mirror = std::binary_search(cover.mirrors.begin(), cover.mirrors.end(), row.source);
    for (const auto target : row.span()) {
      const bool sum = std::binary_search(cover.sums.begin(), cover.sums.end(), target);
      moved += mirror && !sum ? 1 : 0;
      free += mirror && sum ? 1 : 0;
      uncovered += mirror || sum ? 0 : 1;
    }
  }
  CHECK(uncovered == 0);
  CHECK(moved == cover.moved_edges);
  CHECK(free == cover.free_edges);
  CHECK(cover.matching <= cover.values());
  return cover;
}

/// The smallest cover by trying every set of mirrors.
std::uint64_t smallest_by_force(const RowGraph& graph) {
  const auto rows = graph.rows();
  std::uint64_t best = ~0ULL;
  for (std::uint32_t mirrors = 0; mirrors < 1U << rows.size(); ++mirrors) {
    std::uint64_t sums = 0;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (const auto target : rows[row].span()) {
        if ((mirrors >> row & 1) == 0) sums |= 1ULL << target;
      }
    }
    best = std::min<std::uint64_t>(best, std::popcount(mirrors) + std::popcount(sums));
  }
  return best;
}

/// Less than `bound`.
std::uint32_t draw(std::mt19937& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random() % bound);
}

RowGraph random_graph(std::mt19937& random, std::uint32_t rows, std::uint32_t destinations,
                      std::uint32_t degree) {
  RowGraph graph(destinations);
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::vector<LocalNumber> targets(1 + draw(random, degree));
    for (auto& target : targets) target = LocalNumber(draw(random, destinations));
    std::sort(targets.begin(), targets.end());
    graph.add_row(targets);
  }
  return graph;
}

}  // namespace

TEST_CASE("shapes whose covers are known") {
  const auto none = checked_cover(RowGraph(5));
  CHECK(none.values() == 0);
  CHECK(gap(none) == 0);

  RowGraph star(100);
  std::vector<LocalNumber> all(100);
  for (std::uint32_t i = 0; i < 100; ++i) all[i] = LocalNumber(i);
  star.add_row(all);
  const auto out = checked_cover(star);
  CHECK(out.mirrors == std::vector<LocalNumber>{0});
  CHECK(out.sums.empty());
  CHECK(out.moved_edges == 100);

  RowGraph reversed(7);
  for (int row = 0; row < 100; ++row) reversed.add_row({3});
  const auto in = checked_cover(reversed);
  CHECK(in.mirrors.empty());
  CHECK(in.sums == std::vector<LocalNumber>{3});

  RowGraph complete(100);
  for (int row = 0; row < 7; ++row) complete.add_row(all);
  CHECK(checked_cover(complete).values() == 7);

  for (const std::uint32_t rows : {1U, 2U, 9U, 10U, 1000U}) {  // row i -> i, i+1: a path
    RowGraph path(rows + 1);
    for (std::uint32_t row = 0; row < rows; ++row) path.add_row({LocalNumber(row), LocalNumber(row + 1)});
    CHECK(checked_cover(path).values() == rows);
    RowGraph cycle(rows);
    for (std::uint32_t row = 0; row < rows; ++row)
      cycle.add_row({LocalNumber(row), LocalNumber((row + 1) % rows)});
    CHECK(checked_cover(cycle).values() == rows);
  }
}

TEST_CASE("two hubs are cheaper than their leaves on either side") {
  RowGraph graph(51);
  std::vector<LocalNumber> leaves(50);
  for (std::uint32_t i = 0; i < 50; ++i) leaves[i] = LocalNumber(i + 1);
  graph.add_row(leaves);
  for (int row = 0; row < 50; ++row) graph.add_row({0});
  const auto cover = checked_cover(graph);
  CHECK(cover.mirrors == std::vector<LocalNumber>{0});
  CHECK(cover.sums == std::vector<LocalNumber>{0});
}

TEST_CASE("a greedy start that must be undone along one long path") {
  // Row i has the edges i and i + 1, the last row the edges 0 and 1: everything before it moves on by one.
  const std::uint32_t rows = 20000;
  RowGraph graph(rows + 1);
  for (std::uint32_t row = 0; row < rows; ++row) graph.add_row({LocalNumber(row), LocalNumber(row + 1)});
  graph.add_row({0, 1, 0});
  const auto cover = checked_cover(graph);
  CHECK(cover.matching == rows + 1);
  CHECK(cover.values() == rows + 1);
}

TEST_CASE("rows become leaves one after the other") {
  const std::uint32_t rows = 2000;
  for (const bool backwards : {false, true}) {
    RowGraph graph(rows);
    if (!backwards) graph.add_row({0, 0, 0});
    for (std::uint32_t i = 1; i < rows; ++i) {
      const std::uint32_t row = backwards ? rows - i : i;
      graph.add_row({LocalNumber(row - 1), LocalNumber(row)});
    }
    if (backwards) graph.add_row({0});
    const auto cover = checked_cover(graph);
    CHECK(cover.matching == rows);
    CHECK(cover.values() == rows);
    if (!backwards) CHECK(cover.sums.size() == rows);
  }
}

TEST_CASE("a leaf's last edge among many to destinations that others cover") {
  for (const std::uint32_t place : {0U, 15U, 16U, 17U, 31U, 39U, 40U}) {
    RowGraph graph(60);
    std::vector<LocalNumber> all;
    for (LocalNumber d{}; d < 40; ++d) {
      graph.add_row({d});
      all.push_back(d);
    }
    graph.add_row(all);  // nothing is left of it
    all.insert(all.begin() + place, 50);
    graph.add_row(all);
    all.push_back(50);
    graph.add_row(all);  // the same one again
    const auto leaves = checked_cover(graph);
    CHECK(leaves.mirrors.empty());
    CHECK(leaves.sums.size() == 41);
    all.insert(all.begin() + place, 51);
    all.push_back(50);  // the first and the last alike, another between them
    graph.add_row(all);
    graph.add_row({51, 52});
    const auto cover = checked_cover(graph);
    CHECK(cover.values() == 43);
    CHECK(cover.matching == 43);
  }
}

TEST_CASE("random graphs: as small as the smallest by force") {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const auto graph = random_graph(random, 1 + draw(random, 10), 1 + draw(random, 14), 1 + draw(random, 5));
    const auto cover = checked_cover(graph);
    REQUIRE(cover.values() == smallest_by_force(graph));
    REQUIRE(cover.matching == cover.values());
  }
}

TEST_CASE("larger random graphs: the matching proves the cover") {
  std::mt19937 random(11);
  for (const std::uint32_t degree : {1U, 2U, 3U, 4U, 5U, 8U, 30U}) {
    for (const std::uint32_t destinations : {50U, 1900U, 2000U, 2100U, 40000U}) {
      const auto cover = checked_cover(random_graph(random, 2000, destinations, degree));
      CHECK(cover.values() == cover.matching);
      CHECK(gap(cover) == 0);
    }
  }
}

TEST_CASE("sparse random graphs, where searches are long: a small gap soon, none with patience") {
  std::mt19937 random(17);
  const auto graph = random_graph(random, 100000, 100000, 4);  // 2.5 edges a row
  CHECK(gap(checked_cover(graph, 4)) < 0.02);
  CHECK(gap(checked_cover(graph)) == 0);
}

TEST_CASE("with few rounds it is still a cover, and the gap is honest") {
  std::mt19937 random(13);
  bool any_gap = false;
  for (const std::uint32_t rounds : {0U, 1U, 2U}) {
    for (int repeat = 0; repeat < 20; ++repeat) {
      const auto graph = random_graph(random, 3000, 3000, 4);
      const auto cover = checked_cover(graph, rounds);
      const auto best = graph.cover(kUntilMinimum);
      CHECK(cover.matching <= best.matching);
      CHECK(cover.values() >= best.values());
      CHECK(cover.values() <= 3000);
      any_gap = any_gap || gap(cover) > 0;
      if (rounds > 0) CHECK(gap(cover) < 0.2);
    }
  }
  CHECK(any_gap);
}
