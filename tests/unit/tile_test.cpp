#include "base/rooms.h"
#include "dense/tiles/build_tiles.h"
#include "edgewire/detail/sweep.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tile_edges.h"

namespace edgewire::tiles {
namespace {

using topology::WorkerPool;

std::vector<std::uint16_t> words_of(const Tiles& tiles, std::size_t column) {
  std::vector<std::uint16_t> words;
  for (const auto part : tiles.column_data(column)) words.insert(words.end(), part.begin(), part.end());
  return words;
}

/// The largest relative difference between the sums of the tiles and plain sums in double.
template <class Message>
double error_of(const Tiles& tiles, const Edges& edges, std::uint32_t destinations,
                const std::vector<Message>& x, std::size_t weight_bytes = 0) {
  std::vector<double> expected(destinations);
  for (std::uint32_t s = 0; s < edges.sources(); ++s) {
    for (std::size_t i = 0; i < edges.row(s).size(); ++i) {
      const std::uint32_t d = edges.row(s)[i];
      expected[d] += static_cast<double>(x[s]) * (weight_bytes != 0 ? weight_of(s, d, i, weight_bytes) : 1.0);
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
    for (const std::size_t weight_bytes : {sizeof(float), sizeof(double)}) {
      const Tiles weighted = build(pool, graph, equal_columns(shape.destinations, shape.width), weight_bytes);
      CHECK(weighted.edges() == graph.edges());
      CHECK(error_of(weighted, graph, shape.destinations, x, weight_bytes) < kTolerance);
      CHECK(error_of(weighted, graph, shape.destinations, wide, weight_bytes) < kTolerance);
    }
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
  struct Sink final : TileSink {
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
  for (const std::size_t weight_bytes : {0, 4, 8}) {
    const Reader reader(graph, bounds, weight_bytes);
    const Tiles expected = build_tiles(pool, reader, bounds);
    Sink sink(expected.columns());
    build_tiles(pool, reader, bounds, {}, sink, 1 << 20);
    CHECK(sink.calls > 2);
    CHECK(sink.most < expected.bytes() * 3 / 4);
    for (std::size_t c = 0; c < expected.columns(); ++c) {
      CHECK(sink.words[c] == words_of(expected, c));
      CHECK(sink.edges[c] == expected.edges(c));
      std::size_t at = 0;  // tiles lie one behind the other
      while (at < sink.words[c].size()) at += tiles::words_of(sink.words[c].data() + at);
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
}  // namespace edgewire::tiles
