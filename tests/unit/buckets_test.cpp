#include "edgewire/detail/buckets.h"
#include "base/rooms.h"

#include <doctest/doctest.h>

#include <map>
#include <random>
#include <set>

namespace edgewire::detail {

TEST_CASE("buckets give every vertex back once, lowest bucket first, however far apart buckets are") {
  for (const std::uint64_t spread : {3ULL, 300ULL, 100'000ULL, 1ULL << 61}) {
    CAPTURE(spread);
    std::minstd_rand random(7);
    Buckets buckets;
    std::map<std::uint64_t, std::multiset<std::uint32_t>> expected;
    const auto put = [&](std::uint64_t from, KnownNumber vertex) {
      const std::uint64_t bucket = from + (std::uint64_t{random()} << 31 | random()) % spread;
      buckets.put(bucket, vertex);
      expected[bucket].insert(vertex);
    };
    for (KnownNumber v{}; v < 500; ++v) put(0, v);
    std::uint64_t at = 0;
    KnownNumber more{500};
    while (!expected.empty()) {
      at = buckets.lowest(at);
      REQUIRE(at == expected.begin()->first);
      const auto found = buckets.take(at);
      REQUIRE(std::multiset<std::uint32_t>(found.begin(), found.end()) == expected.begin()->second);
      expected.erase(expected.begin());
      if (more < 900) put(at, more), ++more;  // also into the bucket that was just taken
    }
    CHECK(buckets.lowest(at) == kNoBucket);
  }
}

TEST_CASE("nothing is in new buckets") {
  Buckets buckets;
  CHECK(buckets.lowest(0) == kNoBucket);
  CHECK(buckets.size(5) == 0);
  CHECK(buckets.take(5).empty());
}

}  // namespace edgewire::detail
