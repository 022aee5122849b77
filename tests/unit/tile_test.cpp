#include "tiles/tile.h"
#include "tiles/sweep.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan/column_addresses.h"

namespace {

using edgewire::topology::WorkerPool;
using namespace edgewire::tiles;

/// Edges in memory: for each source its destinations.
class Edges {
 public:
  explicit Edges(std::uint32_t sources) : rows_(sources) {}
  void add(std::uint32_t source, std::uint32_t destination) {
    rows_[source].push_back(destination), ++edges_;
  }
  const std::vector<std::uint32_t>& row(std::uint32_t source) const { return rows_[source]; }

  std::uint32_t sources() const { return static_cast<std::uint32_t>(rows_.size()); }
  std::uint64_t edges() const { return edges_; }

 private:
  std::vector<std::vector<std::uint32_t>> rows_;
  std::uint64_t edges_ = 0;
};

/// A weight of the edge, a different one for duplicates in a row.
float weight_of(std::uint32_t source, std::uint32_t destination, std::size_t place) {
  return static_cast<float>((source * 31 + destination * 7 + place) % 17) / 4;
}

class Reader final : public EdgeReader {
 public:
  Reader(const Edges& graph, std::span<const std::uint32_t> bounds, bool weighted = false)
      : graph_(graph), address_(bounds), weighted_(weighted) {}
  bool weighted() const override { return weighted_; }
  std::uint32_t sources() const override { return graph_.sources(); }
  std::uint64_t edges(std::uint32_t first, std::uint32_t last) const override {
    std::uint64_t sum = 0;
    for (std::uint32_t s = first; s < last; ++s) sum += graph_.row(s).size();
    return sum;
  }
  void read(int, std::uint32_t first, std::uint32_t last, edgewire::plan::EdgeRows& rows) const override {
    REQUIRE(first % kRowBlock == 0);
    REQUIRE(last - first <= kRowBlock);
    auto& [destinations, ends, weights] = rows;
    destinations.clear();
    ends.clear();
    weights.clear();
    for (std::uint32_t s = first; s < last; ++s) {
      for (const auto destination : graph_.row(s)) destinations.push_back(address_(destination));
      if (weighted_) {
        for (std::size_t i = 0; i < graph_.row(s).size(); ++i)
          weights.push_back(weight_of(s, graph_.row(s)[i], i));
      }
      ends.push_back(static_cast<std::uint32_t>(destinations.size()));
    }
  }

 private:
  const Edges& graph_;
  edgewire::plan::ColumnAddresses address_;
  bool weighted_;
};

Tiles build(WorkerPool& pool, const Edges& graph, const std::vector<std::uint32_t>& bounds,
            bool weighted = false) {
  return build_tiles(pool, Reader(graph, bounds, weighted), bounds);
}

WorkerPool make_pool(int workers) {
  edgewire::topology::Placement placement;
  placement.workers.resize(static_cast<std::size_t>(workers));
  placement.oversubscribed = true;
  return WorkerPool(placement);
}

std::vector<std::uint32_t> equal_columns(std::uint32_t destinations, std::uint32_t width) {
  std::vector<std::uint32_t> bounds{0};
  while (bounds.back() < destinations) bounds.push_back(std::min(bounds.back() + width, destinations));
  return bounds;
}

std::vector<float> some_values(std::uint32_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(0.5F, 2.0F);
  std::vector<float> x(count);
  for (float& v : x) v = value(random) / static_cast<float>(1U << random() % 20);
  return x;
}

std::vector<std::uint16_t> words_of(const Tiles& tiles, std::size_t column) {
  std::vector<std::uint16_t> words;
  for (const auto part : tiles.column_data(column)) words.insert(words.end(), part.begin(), part.end());
  return words;
}

template <class Message>
std::vector<double> sums_of(const Tiles& tiles, const std::vector<Message>& x) {
  std::vector<double> all;
  std::vector<double> sums(kColumnWidth);
  for (std::size_t c = 0; c < tiles.columns(); ++c) {
    std::fill(sums.begin(), sums.end(), -1.0);
    sweep_column<PlainSum<Message>>(tiles, c, x.data(), sums.data());
    all.insert(all.end(), sums.begin(), sums.begin() + tiles.column_width(c));
  }
  return all;
}

/// The largest relative difference between the sums of the tiles and plain sums in double.
template <class Message>
double error_of(const Tiles& tiles, const Edges& edges, std::uint32_t destinations,
                const std::vector<Message>& x, bool weighted = false) {
  std::vector<double> expected(destinations);
  for (std::uint32_t s = 0; s < edges.sources(); ++s) {
    for (std::size_t i = 0; i < edges.row(s).size(); ++i) {
      const std::uint32_t d = edges.row(s)[i];
      expected[d] += static_cast<double>(x[s]) * (weighted ? static_cast<double>(weight_of(s, d, i)) : 1.0);
    }
  }
  const std::vector<double> sums = sums_of(tiles, x);
  REQUIRE(sums.size() == destinations);
  double error = 0;
  for (std::uint32_t d = 0; d < destinations; ++d) {
    if (expected[d] == 0) REQUIRE(sums[d] == 0);
    if (expected[d] != 0) error = std::max(error, std::abs(sums[d] - expected[d]) / expected[d]);
  }
  return error;
}

/// A graph with hubs among its sources and its destinations, duplicates, and vertices without edges.
Edges skewed(std::uint32_t sources, std::uint32_t destinations, std::uint32_t edges, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto pick = [&](std::uint32_t count) {
    return static_cast<std::uint32_t>(std::pow(uniform(random), 4.0) * (count - 1));
  };
  Edges graph(sources);
  for (std::uint32_t i = 0; i < edges; ++i) {
    const std::uint32_t source = pick(sources);
    graph.add(source, pick(destinations));
  }
  return graph;
}

constexpr double kTolerance = 1e-12;  // all sums are in double

TEST_CASE("sums agree with plain sums on skewed graphs of odd sizes") {
  struct Shape {
    std::uint32_t sources, destinations, edges, width;
  };
  for (const Shape& shape :
       {Shape{200003, 100001, 3000000, kColumnWidth}, Shape{70000, 1000, 2500000, 300},
        Shape{65537, 65537, 400000, kColumnWidth}, Shape{65536, 65536, 2000000, kColumnWidth},
        Shape{1, 80000, 100000, kColumnWidth}, Shape{131072, 1, 100000, kColumnWidth}, Shape{63, 7, 40, 2}}) {
    CAPTURE(shape.sources);
    const Edges graph = skewed(shape.sources, shape.destinations, shape.edges, shape.sources);
    WorkerPool pool = make_pool(2);
    const Tiles tiles = build(pool, graph, equal_columns(shape.destinations, shape.width));
    CHECK(tiles.edges() == graph.edges());
    const std::vector<float> x = some_values(shape.sources, 7);
    CHECK(error_of(tiles, graph, shape.destinations, x) < kTolerance);
    std::vector<double> wide;  // values that no float holds
    for (const float value : x) wide.push_back(static_cast<double>(value) / 3);
    CHECK(error_of(tiles, graph, shape.destinations, wide) < kTolerance);
    const Tiles weighted = build(pool, graph, equal_columns(shape.destinations, shape.width), true);
    CHECK(weighted.edges() == graph.edges());
    CHECK(error_of(weighted, graph, shape.destinations, x, true) < kTolerance);
    CHECK(error_of(weighted, graph, shape.destinations, wide, true) < kTolerance);
  }
}

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
  for (const bool weighted : {false, true}) {
    const Tiles tiles = build(pool, graph, equal_columns(kWidth * kColumns, kWidth), weighted);
    const TileOrder order(tiles, backward_groups(kColumns, 4));
    CHECK(order.order() == Order::hilbert);
    REQUIRE(order.groups() == 3);
    CHECK(order.most() == 4 * kWidth);
    const auto x = some_values(graph.sources(), 5);
    const auto expected = sums_of(tiles, x);
    std::uint64_t words = 0;
    for (std::size_t g = 0; g < order.groups(); ++g) {
      std::vector<double> sums(order.most(), -1.0);
      sweep_group<PlainSum<>>(tiles, order, g, x.data(), sums.data());
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
          rest = rest.subspan(edgewire::tiles::words_of(rest.data()));
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
  const TileOrder order(tiles, bounds, Bins(pool, tiles, graph.sources()));
  CHECK(order.order() == Order::bins);
  const Bins& bins = order.bins();
  CHECK(bins.edges() == thin_edges);
  REQUIRE(bins.strips() == kStrips);
  for (std::size_t column = 0; column < kColumns; ++column)
    for (std::uint16_t strip = 0; strip < kStrips; ++strip)
      CHECK(bins.holds(column, strip) == thin.contains({column, strip}));
  const auto x = some_values(graph.sources(), 9);
  const auto expected = sums_of(tiles, x);
  std::vector<float> values(bins.edges());
  for (std::size_t strip = 0; strip < kStrips; ++strip) bins.scatter(strip, x.data(), values.data());
  for (std::size_t column = 0; column < kColumns; ++column) {
    std::vector<double> sums(kWidth, -1.0);
    sweep_group<PlainSum<>>(tiles, order, column, x.data(), sums.data(), 0, values.data());
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
  const TileOrder order(tiles, bounds, Bins(pool, tiles, 4));
  CHECK(order.bins().edges() == 0);
  CHECK(order.bins().strips() == 0);
  std::vector<double> sums(4);
  const std::vector<float> x{1, 2, 3, 4};
  sweep_group<PlainSum<>>(tiles, order, 0, x.data(), sums.data());
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

TEST_CASE("columns of unequal width, some without edges") {
  const std::vector<std::uint32_t> bounds{0, 1, 2, 1000, 1001, 20000, 85536, 85537, 90000};
  Edges graph(100000);
  std::mt19937 random(1);
  for (int i = 0; i < 300000; ++i) {
    const auto d = static_cast<std::uint32_t>(random() % 90000);
    if (d < 1000 || d > 20000) graph.add(static_cast<std::uint32_t>(random() % 100000), d);
  }
  WorkerPool pool = make_pool(2);
  const Tiles tiles = build(pool, graph, bounds);
  REQUIRE(tiles.columns() == bounds.size() - 1);
  for (std::size_t c = 0; c + 1 < bounds.size(); ++c) {
    CHECK(tiles.column_begin(c) == bounds[c]);
    CHECK(tiles.column_width(c) == bounds[c + 1] - bounds[c]);
  }
  CHECK(tiles.edges(3) == 0);
  CHECK(tiles.column_data(3).empty());
  CHECK(error_of(tiles, graph, 90000, some_values(100000, 2)) < kTolerance);
}

TEST_CASE("a destination with millions of equal addends, and a source with millions of edges") {
  constexpr std::uint32_t kMany = 3000000;
  Edges star(kMany);
  for (std::uint32_t s = 0; s < kMany; ++s) star.add(s, 5);
  for (std::uint32_t d = 0; d < 100000; ++d) star.add(9, d);
  for (int i = 0; i < 2000000; ++i) star.add(10, 6);
  WorkerPool pool = make_pool(1);
  const Tiles tiles = build(pool, star, equal_columns(100000, kColumnWidth));
  CHECK(error_of(tiles, star, 100000, std::vector<float>(kMany, 0.1F)) < 1e-10);
}

TEST_CASE("no sources, no edges") {
  WorkerPool pool = make_pool(2);
  const Tiles none = build(pool, Edges(0), equal_columns(10, 4));
  CHECK(none.columns() == 3);
  CHECK(sums_of(none, std::vector<float>{}) == std::vector<double>(10, 0.0));
  const Tiles empty = build(pool, Edges(100), equal_columns(10, 4));
  CHECK(sums_of(empty, std::vector<float>(100, 1.0F)) == std::vector<double>(10, 0.0));
  CHECK(build(pool, Edges(100), std::vector<std::uint32_t>{0}).columns() == 0);
}

TEST_CASE("the tiles are the same from any number of workers") {
  const Edges graph = skewed(150000, 90000, 1500000, 3);
  const std::vector<std::uint32_t> bounds = equal_columns(90000, 10000);
  WorkerPool one = make_pool(1);
  const Tiles expected = build(one, graph, bounds);
  for (const int workers : {2, 3, 5}) {
    WorkerPool pool = make_pool(workers);
    const Tiles tiles = build(pool, graph, bounds);
    for (std::size_t c = 0; c < tiles.columns(); ++c) CHECK(words_of(tiles, c) == words_of(expected, c));
  }
}

TEST_CASE("a sink gets the same tiles, in pieces") {
  /// All words of each column, and how many tiles were counted in them.
  struct Sink final : edgewire::tiles::TileSink {
    explicit Sink(std::size_t columns) : words(columns), edges(columns) {}
    void take(const Tiles& tiles) override {
      ++calls;
      most = std::max(most, tiles.bytes());
      for (std::size_t c = 0; c < tiles.columns(); ++c) {
        edges[c] += tiles.edges(c);
        for (const auto part : tiles.column_data(c))
          words[c].insert(words[c].end(), part.begin(), part.end());
      }
    }
    std::vector<std::vector<std::uint16_t>> words;
    std::vector<std::uint64_t> edges;
    std::uint64_t most = 0;
    int calls = 0;
  };
  const Edges graph = skewed(150000, 90000, 8000000, 3);
  const std::vector<std::uint32_t> bounds = equal_columns(90000, 10000);
  WorkerPool pool = make_pool(2);
  for (const bool weighted : {false, true}) {
    const Reader reader(graph, bounds, weighted);
    const Tiles expected = edgewire::tiles::build_tiles(pool, reader, bounds);
    Sink sink(expected.columns());
    edgewire::tiles::build_tiles(pool, reader, bounds, {}, sink, 1 << 20);
    CHECK(sink.calls > 2);
    CHECK(sink.most < expected.bytes() * 3 / 4);
    for (std::size_t c = 0; c < expected.columns(); ++c) {
      CHECK(sink.words[c] == words_of(expected, c));
      CHECK(sink.edges[c] == expected.edges(c));
      std::size_t at = 0;  // tiles lie one behind the other
      while (at < sink.words[c].size()) at += edgewire::tiles::words_of(sink.words[c].data() + at);
      CHECK(at == sink.words[c].size());
    }
  }
}

TEST_CASE("memory stays within five bytes an edge, even for sparse tiles") {
  Edges graph(1000000);
  std::mt19937 random(5);
  for (int i = 0; i < 1000000; ++i)
    graph.add(static_cast<std::uint32_t>(random() % 1000000), static_cast<std::uint32_t>(random() % 1000000));
  WorkerPool pool = make_pool(2);
  const Tiles tiles = build(pool, graph, equal_columns(1000000, kColumnWidth));
  CHECK(tiles.bytes() <= 5 * graph.edges());
  CHECK(error_of(tiles, graph, 1000000, some_values(1000000, 4)) < kTolerance);
}

TEST_CASE("tiles fit the caches, and their sums stay right in small ones") {
  const TileSizes usual = TileSizes::for_caches(32 << 10, 1 << 20);
  CHECK(usual.column_width == 65536);
  CHECK(usual.strip_width == 65536);
  CHECK(usual.narrow_sources == 8192);
  const TileSizes small = TileSizes::for_caches(24 << 10, 300 << 10);
  CHECK(small.column_width == 16384);
  CHECK(small.strip_width == 16384);
  CHECK(small.narrow_sources == 4096);
  const TileSizes none = TileSizes::for_caches(0, 0);
  CHECK(none.column_width == 4096);
  CHECK(none.strip_width == 4096);
  CHECK(TileSizes::for_caches(1 << 20, 1 << 30).strip_width == kStripWidth);

  const Edges graph = skewed(150000, 90000, 1500000, 3);
  WorkerPool pool = make_pool(2);
  for (const TileSizes& sizes : {small, none}) {
    const auto bounds = equal_columns(90000, sizes.column_width);
    const Tiles tiles = build_tiles(pool, Reader(graph, bounds), bounds, {}, sizes);
    CHECK(tiles.edges() == graph.edges());
    CHECK(error_of(tiles, graph, 90000, some_values(150000, 5)) < kTolerance);
  }
}

}  // namespace
