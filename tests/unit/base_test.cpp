#include <doctest/doctest.h>

#include "base/median.h"
#include "base/usage.h"

namespace edgewire {
namespace {

TEST_CASE("the median is the value in the middle, or the mean of two") {
  CHECK(median({3}) == 3);
  CHECK(median({5, 1, 2}) == 2);
  CHECK(median({4, 1, 3, 2}) == 2.5);
  CHECK(median_of_sorted(std::vector<double>{1, 3}) == 2);
}

TEST_CASE("a process has used time of cores, and memory") {
  const double before = process_cpu_seconds();
  const std::vector<char> memory(64 << 20, 1);  // touched
  CHECK(peak_memory_bytes() >= memory.size());
  CHECK(process_cpu_seconds() >= before);
}

}  // namespace
}  // namespace edgewire
