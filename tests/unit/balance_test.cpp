#include "dense/plan/count.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace edgewire::plan {
namespace {

/// What each process computes after balance(), which must not move more than it may.
std::vector<std::uint64_t> balanced(const Traffic& edges, const Traffic& moved, const Traffic& free) {
  const Traffic after = balance(edges, moved, free);
  for (std::size_t p = 0; p < static_cast<std::size_t>(edges.processes()); ++p) {
    for (std::size_t q = 0; q < static_cast<std::size_t>(edges.processes()); ++q) {
      CHECK(after.at(p, q) >= moved.at(p, q));
      CHECK(after.at(p, q) <= moved.at(p, q) + free.at(p, q));
    }
  }
  return computed_edges(edges, &after);
}

TEST_CASE("edges that either process can compute go to those that compute least") {
  Traffic edges(3), moved(3), free(3);
  edges.at(0, 0) = 500;
  edges.at(0, 1) = edges.at(0, 2) = 200;
  edges.at(1, 1) = edges.at(2, 2) = 150;
  free.at(0, 1) = free.at(0, 2) = 190;
  SUBCASE("as many as it takes") {
    CHECK(balanced(edges, moved, free) == std::vector<std::uint64_t>{520, 340, 340});
  }
  SUBCASE("beside those that must move") {
    moved.at(0, 1) = 10;
    CHECK(balanced(edges, moved, free) == std::vector<std::uint64_t>{510, 350, 340});
  }
  SUBCASE("not those that fit already") {
    edges.at(1, 1) = edges.at(2, 2) = 895;
    CHECK(balanced(edges, moved, free) == std::vector<std::uint64_t>{900, 895, 895});
  }
  SUBCASE("and no further than the mean") {
    edges.at(1, 1) = 800;
    edges.at(2, 2) = 550;
    CHECK(balanced(edges, moved, free) == std::vector<std::uint64_t>{750, 800, 700});
  }
}

TEST_CASE("nothing moves where nothing can") {
  CHECK(balanced(Traffic(0), Traffic(0), Traffic(0)).empty());
  Traffic edges(2);
  edges.at(0, 0) = 100;
  CHECK(balanced(edges, Traffic(2), Traffic(2)) == std::vector<std::uint64_t>{100, 0});
}

}  // namespace
}  // namespace edgewire::plan
