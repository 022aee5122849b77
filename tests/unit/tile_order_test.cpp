#include "edgewire/detail/tile_order.h"
#include "base/rooms.h"
#include "dense/tiles/build_tiles.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "edgewire/detail/bins.h"
#include "edgewire/detail/sweep.h"
#include "tile_edges.h"

namespace edgewire::tiles {
namespace {

using topology::WorkerPool;

/// How the columns of an order are grouped: `together` at a time, the last first.
std::vector<std::vector<std::uint32_t>> backward_groups(std::size_t columns, std::size_t together) {
  std::vector<std::vector<std::uint32_t>> groups;
  for (std::size_t c = columns; c-- > 0;) {
    if (groups.empty() || groups.back().size() == together) groups.emplace_back();
    groups.back().push_back(static_cast<std::uint32_t>(c));
  }
  return groups;
}

TEST_CASE("along the Hilbert curve every tile is swept once, and the next one is near") {
  constexpr std::uint32_t kStrips = 7, kWidth = 100, kColumns = 9;
  Edges graph(kStrips * kStripWidth - 5);
  std::mt19937 random(3);
  for (std::uint32_t strip = 0; strip < kStrips; ++strip)
    for (std::uint32_t i = 0; i < 20000; ++i)  // some in every cell
      graph.add(strip * kStripWidth + static_cast<std::uint32_t>(random() % 60000), i % (kWidth * kColumns));
  WorkerPool pool = make_pool(2);
  for (const std::size_t weight_bytes : {0, 4, 8}) {
    const Tiles tiles = build(pool, graph, equal_columns(kWidth * kColumns, kWidth), weight_bytes);
    const TileOrder order(tiles, backward_groups(kColumns, 4));
    CHECK(order.order() == Order::hilbert);
    REQUIRE(order.groups() == 3);
    CHECK(order.most() == 4 * kWidth);
    const auto x = some_values(graph.sources(), 5);
    const auto expected = sums_of(tiles, x);
    std::uint64_t words = 0;
    for (std::size_t g = 0; g < order.groups(); ++g) {
      std::vector<double> sums(order.most(), -1.0);
      sweep_group<WeightedSum<>>(tiles, order, g, x.data(), sums.data());
      for (const std::uint32_t column : order.columns(g)) {
        CHECK(order.group_of(column) == g);
        for (std::uint32_t i = 0; i < kWidth; ++i)
          CHECK(sums[order.begin(column) + i] ==
                doctest::Approx(expected[column * kWidth + i]).epsilon(kTolerance));
      }
      std::optional<std::pair<std::int64_t, std::int64_t>> last;  // column and strip
      int far = 0;
      for (const auto& step : order.steps(g)) {
        for (auto rest = step.words; !rest.empty();) {
          const std::pair<std::int64_t, std::int64_t> cell{step.begin / kWidth, rest[0]};
          if (last) far += std::abs(cell.first - last->first) + std::abs(cell.second - last->second) > 1;
          last = cell;
          rest = rest.subspan(tiles::words_of(rest.data()));
        }
        words += step.words.size();
      }
      CHECK(far <= 1);  // where the curve leaves the 7 strips for the eighth, which is not there
    }
    std::uint64_t bytes = 0;
    for (std::size_t c = 0; c < tiles.columns(); ++c) bytes += tiles.bytes(c);
    CHECK(2 * words == bytes);
  }
}

TEST_CASE("edges of thin cells are in bins, the others in tiles, each once") {
  constexpr std::uint32_t kStrips = 5, kWidth = 3000, kColumns = 7;
  Edges graph(kStrips * kStripWidth - 65000);  // the last strip has 536 sources
  std::mt19937 random(5);
  const auto fill = [&](std::uint32_t strip, std::uint32_t column, std::uint32_t edges) {
    const std::uint32_t sources = std::min(kStripWidth, graph.sources() - strip * kStripWidth);
    for (std::uint32_t i = 0; i < edges; ++i)
      graph.add(strip * kStripWidth + static_cast<std::uint32_t>(random() % sources),
                column * kWidth + static_cast<std::uint32_t>(random() % kWidth));
  };
  std::set<std::pair<std::size_t, std::uint16_t>> thin;
  std::uint64_t thin_edges = 0;
  for (std::uint32_t strip = 0; strip < kStrips; ++strip) {
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      const std::uint32_t limit = strip + 1 == kStrips ? 536 / 4 : kStripWidth / 4;
      const std::uint32_t edges = (strip + column) % 3 == 0   ? 0
                                  : (strip + column) % 3 == 1 ? limit
                                                              : limit - 1;
      fill(strip, column, edges);
      if (edges + 1 != limit) continue;
      thin.emplace(column, strip);
      thin_edges += edges;
    }
  }
  WorkerPool pool = make_pool(2);
  const auto bounds = equal_columns(kWidth * kColumns, kWidth);
  const Tiles tiles = build(pool, graph, bounds);
  CHECK(count_thin_edges(pool, tiles, graph.sources()) == thin_edges);
  const TileOrder order(tiles, bounds, make_bins(pool, tiles, graph.sources()));
  CHECK(order.order() == Order::bins);
  const Bins& bins = order.bins();
  CHECK(bins.edges() == thin_edges);
  REQUIRE(bins.strips() == kStrips);
  for (std::size_t column = 0; column < kColumns; ++column)
    for (std::uint16_t strip = 0; strip < kStrips; ++strip)
      CHECK(bins.holds(column, strip) == thin.contains({column, strip}));
  std::uint64_t dense_words = 0;
  for (std::size_t column = 0; column < kColumns; ++column)
    for (auto rest : tiles.column_data(column))
      for (; !rest.empty(); rest = rest.subspan(words_of(rest.data())))
        if (!thin.contains({column, rest[0]})) dense_words += words_of(rest.data());
  CHECK(order.bytes(tiles, sizeof(float)) == 2 * dense_words + (2 + 2 + 4 + 4) * thin_edges);
  CHECK(TileOrder(bounds).bytes(tiles, sizeof(float)) == tiles.bytes());
  const auto x = some_values(graph.sources(), 9);
  const auto expected = sums_of(tiles, x);
  std::vector<float> values(bins.edges());
  for (std::size_t strip = 0; strip < kStrips; ++strip) bins.scatter(strip, x.data(), values.data());
  for (std::size_t column = 0; column < kColumns; ++column) {
    std::vector<double> sums(kWidth, -1.0);
    sweep_group<WeightedSum<>>(tiles, order, column, x.data(), sums.data(), 0, values.data());
    for (std::uint32_t i = 0; i < kWidth; ++i)
      CHECK(sums[i] == doctest::Approx(expected[column * kWidth + i]).epsilon(kTolerance));
  }
}

TEST_CASE("a matrix without thin cells has no bins") {
  Edges graph(4);
  for (std::uint32_t i = 0; i < 4; ++i) graph.add(i, i);
  WorkerPool pool = make_pool(1);
  const auto bounds = equal_columns(4, 4);
  const Tiles tiles = build(pool, graph, bounds);
  const TileOrder order(tiles, bounds, make_bins(pool, tiles, 4));
  CHECK(order.bins().edges() == 0);
  CHECK(order.bins().strips() == 0);
  std::vector<double> sums(4);
  const std::vector<float> x{1, 2, 3, 4};
  sweep_group<WeightedSum<>>(tiles, order, 0, x.data(), sums.data());
  CHECK(sums == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("strip by strip each column is a group") {
  const std::vector<std::uint32_t> bounds{0, 10, 300, 310};
  const TileOrder order(bounds);
  CHECK(order.order() == Order::strips);
  CHECK(order.groups() == 3);
  CHECK(order.most() == 290);
  for (std::size_t c = 0; c < 3; ++c) {
    CHECK(order.group_of(c) == c);
    CHECK(order.begin(c) == 0);
    CHECK(order.columns(c).size() == 1);
    CHECK(order.steps(c).empty());
  }
}

}  // namespace
}  // namespace edgewire::tiles
