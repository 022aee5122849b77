#include "dense/plan/owner_filter.h"

#include <doctest/doctest.h>

#include <random>

using edgewire::Bits;
using edgewire::plan::copy_others;
using edgewire::plan::kCopySlack;

TEST_CASE("copies the numbers that are not set, in their order") {
  constexpr std::uint32_t kSize = 1000, kEnd = 0xFFFFFFFF;
  std::mt19937 random(3);
  for (const unsigned set_in_8 : {0U, 1U, 4U, 7U, 8U}) {
    Bits bits(kSize);
    for (std::uint32_t i = 0; i < kSize; ++i)
      if (random() % 8 < set_in_8) bits.add(i);
    for (std::size_t count = 0; count < 70; ++count) {
      std::vector<std::uint32_t> numbers(count), expected;
      for (auto& number : numbers) {
        number = static_cast<std::uint32_t>(random() % kSize);
        if (!bits.test(number)) expected.push_back(number);
      }
      std::vector<std::uint32_t> out(count + kCopySlack + 1, kEnd);
      const auto* end = copy_others(bits, numbers, out.data());
      CHECK(std::vector<std::uint32_t>(out.data(), const_cast<std::uint32_t*>(end)) == expected);
      CHECK(out.back() == kEnd);
    }
  }
}
