// How many columns are swept together, and when bins may be chosen.
#include "dense/job/order_choice.h"

#include <doctest/doctest.h>

#include <limits>

namespace edgewire::job {
namespace {

TEST_CASE("sources that fit into the last cache leave a group half of the second one") {
  topology::Machine machine;
  machine.l2_bytes = 1 << 20;
  machine.l3_bytes = 32 << 20;
  CHECK(columns_together(machine, 8, 32 << 20, 1 << 17) == 4);
  CHECK(columns_together(machine, 8, 32 << 20, 1 << 19) == 2);  // at least
  CHECK(columns_together(machine, 8, 32 << 20, 1 << 10) == 8);  // at most
  CHECK(columns_together(machine, 8, 32 << 20, 0) == 8);
}

TEST_CASE("sources that come from memory leave it half of the worker's share of the last cache") {
  topology::Machine machine;
  machine.l2_bytes = 1 << 20;
  machine.l3_bytes = 32 << 20;
  CHECK(columns_together(machine, 8, (32 << 20) + 4, 1 << 19) == 4);
  machine.l3_bytes = 0;  // no third cache
  CHECK(columns_together(machine, 8, 4, 1 << 18) == 2);
}

TEST_CASE("bins are chosen only where they take less than half of the memory that is left") {
  CHECK(bins_fit(1000, 32000));
  CHECK_FALSE(bins_fit(1001, 32000));
  CHECK_FALSE(bins_fit(std::uint64_t{1} << 40, std::uint64_t{1} << 40));
  CHECK(bins_fit(0, 0));
}

TEST_CASE("another order than strips has to be faster by 8 %") {
  CHECK(fastest_order({1, 0.93, 0.95}) == tiles::Order::strips);
  CHECK(fastest_order({1, 0.91, 0.95}) == tiles::Order::hilbert);
  CHECK(fastest_order({1, 0.91, 0.5}) == tiles::Order::bins);
  CHECK(fastest_order({0, 0, 0}) == tiles::Order::strips);
}

TEST_CASE("no process takes bins where one has too little memory for them") {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  CHECK(fastest_order({1, 0.5, kNever}) == tiles::Order::hilbert);
  CHECK(
      order_reason(tiles::Order::hilbert, {1, 0.5, kNever}) ==
      "hilbert: by a sample, all tiles take 1000 ms strip by strip, 500 ms along the Hilbert curve, there is "
      "too little memory for bins");
}

}  // namespace
}  // namespace edgewire::job
