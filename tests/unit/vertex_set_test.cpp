#include "partition/vertex_set.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "dense/plan/edge_rows.h"

namespace edgewire::plan {

namespace {

using Ids = std::set<std::uint32_t>;

partition::VertexSet set_of(std::uint64_t vertices, const Ids& ids, std::uint64_t affordable) {
  return {vertices, affordable, [&](const auto& take) {
            for (const std::uint32_t id : ids) take(VertexId(id));
            for (const std::uint32_t id : ids) take(VertexId(id));  // once more changes nothing
          }};
}

void check_one(const partition::VertexSet& set, const Ids& ids, const Ids& asked) {
  CHECK(set.count() == ids.size());
  CHECK(std::ranges::equal(set.members(), ids, {}, [](VertexId v) { return std::uint32_t{v}; }));
  for (const std::uint32_t id : asked) {
    const auto found = ids.find(id);
    const auto place = found == ids.end() ? 0 : std::distance(ids.begin(), found) + 1;
    CHECK(set.place(VertexId(id)) == static_cast<std::uint32_t>(place));
    CHECK(set.has(VertexId(id)) == (place > 0));
  }
}

/// With all words in memory, and only with those that are used.
void check(std::uint64_t vertices, const Ids& ids, const Ids& asked) {
  if (vertices < 1 << 24) check_one(set_of(vertices, ids, vertices), ids, asked);
  check_one(set_of(vertices, ids, 0), ids, asked);
}

Ids random_ids(std::uint64_t vertices, std::size_t count, std::mt19937_64& random) {
  Ids ids;
  while (ids.size() < count) ids.insert(static_cast<std::uint32_t>(random() % vertices));
  return ids;
}

}  // namespace

TEST_CASE("a set of vertices knows its members and their places") {
  check(0, {}, {});
  check(1, {0}, {0});
  check(4096, {0, 63, 64, 4095}, {0, 1, 62, 63, 64, 65, 127, 128, 4094, 4095});
  check(4097, {4096}, {0, 63, 4095, 4096});
  check(0xFFFFFFFF, {0, 4096, 0x80000000, 0xFFFFFFFE}, {0, 1, 4095, 4096, 4097, 0x80000000, 0xFFFFFFFE});
  std::mt19937_64 random(7);
  for (const auto& [vertices, count] : {std::pair{100, 100}, {1000, 30}, {50000, 40000}, {5000000, 3000}}) {
    const auto of = static_cast<std::uint64_t>(vertices);
    check(of, random_ids(of, static_cast<std::size_t>(count), random), random_ids(of, 100, random));
  }
}

TEST_CASE("several threads fill a set together") {
  constexpr std::uint64_t kVertices = 100000;
  std::uint32_t expected = 0;
  for (std::uint32_t v = 0; v < kVertices; ++v) expected += v % 3 < 2 ? 1 : 0;
  for (const std::uint64_t affordable : {0, 100000}) {
    const partition::VertexSet set(kVertices, affordable, [](const auto& take) {
      std::vector<std::jthread> threads;
      for (std::uint32_t t = 0; t < 4; ++t)
        threads.emplace_back([&take, t] {
          for (std::uint32_t v = t % 2; v < kVertices; v += 3) take(VertexId(v));
        });
    });
    CHECK(set.count() == expected);
  }
}

TEST_CASE("numbers of vertices are looked up row by row, and those that are too large are left out") {
  std::mt19937_64 random(11);
  const Ids ids = random_ids(20000, 5000, random);
  std::uint64_t affordable = 0;
  SUBCASE("some words") { affordable = 0; }
  SUBCASE("all words") { affordable = 4999; }
  SUBCASE("all numbers") { affordable = 5000; }
  partition::VertexNumbers numbers(set_of(20000, ids, affordable), 20000, affordable);
  CHECK(numbers.all().size() == (affordable < 5000 ? ids.size() + 1 : 20000));
  for (const std::uint32_t id : ids) numbers[VertexId(id)] = id * 2;
  std::vector<PlainId> targets;
  std::vector<std::uint32_t> ends, expected, expected_below, expected_ends;
  constexpr std::uint32_t kLimit = 20000;
  for (const std::size_t length : {0, 0, 3, 255, 1, 0, 256, 257, 0, 1000, 0, 0}) {
    for (std::size_t i = 0; i < length; ++i) {
      const auto v = static_cast<std::uint32_t>(random() % 20000);
      const std::uint32_t number = ids.contains(v) ? v * 2 : partition::kNoDestination;
      targets.push_back(v);
      expected.push_back(number);
      if (number < kLimit) expected_below.push_back(number);
    }
    ends.push_back(static_cast<std::uint32_t>(targets.size()));
    expected_ends.push_back(static_cast<std::uint32_t>(expected_below.size()));
  }
  EdgeRows rows;  // the ids may be in the memory of the numbers
  std::ranges::copy(targets, rows.room_for_ids(targets.size()).begin());
  partition::look_up(numbers, rows.room_for_ids(targets.size()), rows.destinations);
  CHECK(rows.destinations == expected);
  std::ranges::copy(targets, rows.room_for_ids(targets.size()).begin());
  partition::look_up_below(kLimit, numbers, rows.room_for_ids(targets.size()), rows.destinations, ends);
  CHECK(ends == expected_ends);
  rows.destinations.resize(ends.back());
  CHECK(rows.destinations == expected_below);
  std::vector<std::uint32_t> no_ends(3);
  partition::look_up_below(kLimit, numbers, {}, {}, no_ends);
  CHECK(no_ends == std::vector<std::uint32_t>(3));
}

}  // namespace edgewire::plan
