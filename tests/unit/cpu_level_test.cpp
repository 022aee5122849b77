#include "edgewire/detail/cpu_level.h"
#include "base/rooms.h"

#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

using namespace edgewire::topology;

/// A fused multiplication and addition rounds once; the two instructions round twice.
double multiply_and_add(const std::array<double, 64>& a, double b) {
  double sum = 0;
  for (const double one : a) sum = sum + one * b;
  return sum;
}

std::array<double, 64> thirds() {
  std::array<double, 64> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<double>(i + 1) / 3;
  return numbers;
}

}  // namespace

TEST_CASE("cpu level: work gives the same bits as code that is compiled for all processors") {
  const auto numbers = thirds();
  const double expected = multiply_and_add(numbers, 0.1);
  CHECK(run_for_cpu([&] { return multiply_and_add(numbers, 0.1); }) == expected);
  CHECK(run_scalar_for_cpu([&] { return multiply_and_add(numbers, 0.1); }) == expected);
}

TEST_CASE("cpu level: what work throws comes out") {
  CHECK_THROWS_AS(run_for_cpu([] { throw std::runtime_error("no"); }), std::runtime_error);
  CHECK_THROWS_AS(run_scalar_for_cpu([] { throw std::runtime_error("no"); }), std::runtime_error);
}

TEST_CASE("cpu level: the one that is asked for, else the highest") {
  const char* const asked = std::getenv("EDGEWIRE_CPU");
  if (asked != nullptr && *asked != '\0') CHECK(name_of(cpu_level()) == "x86-64-" + std::string(asked));
#if defined(__x86_64__)
  if (asked == nullptr) {
    CHECK((cpu_level() == CpuLevel::v4) == (__builtin_cpu_supports("avx512vl") != 0));
    CHECK((cpu_level() == CpuLevel::v2) == (__builtin_cpu_supports("avx2") == 0));
  }
#else
  CHECK(cpu_level() == CpuLevel::generic);
#endif
}
