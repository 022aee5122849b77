// How many columns are swept together, and when bins may be chosen.
#include "job/order_choice.h"

#include <doctest/doctest.h>

namespace edgewire::job {
namespace {

TEST_CASE("sources that fit into the last cache leave a group half of the second one") {
  const OrderCaches caches{1 << 20, 32 << 20, 4 << 20};
  CHECK(columns_together(caches, 32 << 20, 1 << 17) == 4);
  CHECK(columns_together(caches, 32 << 20, 1 << 19) == 2);  // at least
  CHECK(columns_together(caches, 32 << 20, 1 << 10) == 8);  // at most
  CHECK(columns_together(caches, 32 << 20, 0) == 8);
}

TEST_CASE("sources that come from memory leave it half of the worker's share of the last cache") {
  const OrderCaches caches{1 << 20, 32 << 20, 4 << 20};
  CHECK(columns_together(caches, (32 << 20) + 4, 1 << 19) == 4);
  const OrderCaches none{1 << 20, 0, 0};  // no third cache
  CHECK(columns_together(none, 4, 1 << 18) == 2);
}

TEST_CASE("bins are chosen only where they take less than half of the memory that is left") {
  CHECK(bins_fit(1000, 32000));
  CHECK_FALSE(bins_fit(1001, 32000));
  CHECK_FALSE(bins_fit(std::uint64_t{1} << 40, std::uint64_t{1} << 40));
  CHECK(bins_fit(0, 0));
}

}  // namespace
}  // namespace edgewire::job
