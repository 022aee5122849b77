// Bins: several workers offer values to random vertices, and nothing is lost, applied twice or applied by two
// workers at a time.
#include "edgewire/detail/offers.h"
#include "base/rooms.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "schedule.h"
#include "transport_fixture.h"

namespace edgewire::detail {
namespace {

constexpr std::size_t kBin = OfferBins<std::uint64_t>::kOffers,
                      kMost = OfferBins<std::uint64_t>::kMostWaiting;

/// Vertices near 0 get most of them.
Offer<std::uint64_t> draw(std::minstd_rand& random, std::uint32_t numbers) {
  const std::uint64_t a = random(), b = random();
  return {KnownNumber(static_cast<std::uint32_t>(a % numbers * (b % numbers) / numbers)), random()};
}

void await(const std::atomic<std::size_t>& count, std::size_t least) {
  while (count < least) std::this_thread::yield();
}

}  // namespace

TEST_CASE("sums and minima are those of all offers, whoever gathers them" *
          doctest::test_suite("schedules")) {
  struct Case {
    int workers;
    std::uint32_t numbers;
    std::size_t bytes;
    std::size_t offers;  ///< of each worker, in each of three steps
  };
  for (const Case& tried : {Case{1, 5000, 8, 20'000},
                            {2, 1, 8, 5000},
                            {3, 40'000, 1 << 18, 100'000},
                            {4, 3'000'000, 8, 200'000},
                            {4, 700, 8, 200'000},
                            {2, 5000, 8, 3}}) {
    const int workers = tried.workers;
    const std::uint32_t numbers = tried.numbers;
    const std::size_t bytes = tried.bytes;
    const auto offers = static_cast<std::size_t>(rounds(static_cast<int>(tried.offers)));
    if (is_scheduled() && numbers > 100'000) continue;
    CAPTURE(workers);
    CAPTURE(numbers);
    OfferBins<std::uint64_t> bins(workers, numbers, bytes);
    CHECK(bins.ranges() <= bins.kMostRanges);
    std::vector<std::uint64_t> sums(numbers), minima(numbers, ~0ULL), expected_sums(sums),
        expected_minima(minima);
    std::atomic<int> strangers{0};
    for (std::uint32_t step = 0; step < 3; ++step) {
      const auto seed = [step](int w) {
        return std::minstd_rand(step * 100 + static_cast<std::uint32_t>(w) + 1);
      };
      transport::parallel(workers, [&](int w) {
        const auto self = std::this_thread::get_id();
        const auto apply = [&](const Offer<std::uint64_t>& one) {  // two at a time would lose some
          if (std::this_thread::get_id() != self) ++strangers;
          sums[one.vertex] += one.value;
          minima[one.vertex] = std::min(minima[one.vertex], one.value);
        };
        auto random = seed(w);
        for (std::size_t i = 0; i < offers; ++i) bins.put(w, draw(random, numbers), apply);
        bins.finish(w, apply);
      });
      for (int w = 0; w < workers; ++w) {
        auto random = seed(w);
        for (std::size_t i = 0; i < offers; ++i) {
          const auto one = draw(random, numbers);
          expected_sums[one.vertex] += one.value;
          expected_minima[one.vertex] = std::min(expected_minima[one.vertex], one.value);
        }
      }
      REQUIRE(sums == expected_sums);
      REQUIRE(minima == expected_minima);
    }
    CHECK(strangers == 0);
  }
}

TEST_CASE("ranges are as many as workers need, and no more than is useful") {
  const auto ranges = [](int workers, std::uint32_t numbers, std::size_t bytes) {
    return OfferBins<double>(workers, numbers, bytes).ranges();
  };
  CHECK(ranges(2, 100, 8) == 1);              // of 512 numbers at least
  CHECK(ranges(2, 1 << 20, 16) == 64);        // each has 256 KiB
  CHECK(ranges(16, (1 << 20) - 1, 1) >= 64);  // four for each worker
  CHECK(ranges(2, ~0U, 8) <= 1024);           // their bins do not fill the memory
}

TEST_CASE("a worker waits while many full bins wait for another one, which then applies them all" *
          doctest::test_suite("schedules")) {
  OfferBins<std::uint64_t> bins(2, 1, 8);
  constexpr std::size_t kNoWait = kBin * (kMost + 1);  // the last of these bins is full, and still open
  std::atomic<std::size_t> gathering{0}, put{0};
  std::atomic<bool> released{false};
  bool early = false;
  std::size_t gathered = 0;
  const auto count = [&](const Offer<std::uint64_t>&) { ++gathered; };
  transport::parallel(2, [&](int w) {
    if (w == 0) {
      bool first = true;
      const auto hold = [&](const Offer<std::uint64_t>& one) {
        count(one);
        if (!std::exchange(first, false)) return;
        gathering = 1;
        await(put, kNoWait);
        for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // a worker that does not wait goes on
        released = true;
      };
      bins.put(w, {KnownNumber(0), 1}, hold);
      bins.finish(w, hold);
    } else {
      await(gathering, 1);
      for (; put < kNoWait; ++put) bins.put(w, {KnownNumber(0), 1}, count);
      bins.put(w, {KnownNumber(0), 1}, count);
      early = !released;
      bins.finish(w, count);
    }
  });
  CHECK(!early);
  CHECK(gathered == kNoWait + 2);
}

TEST_CASE("when a worker fails while it gathers, others go on" * doctest::test_suite("schedules")) {
  OfferBins<std::uint64_t> bins(2, 1, 8);
  std::atomic<std::size_t> gathering{0}, put{0};
  bool failed = false;
  std::size_t gathered = 0;
  transport::parallel(2, [&](int w) {
    if (w == 0) {
      const auto fail = [&](const Offer<std::uint64_t>&) {
        gathering = 1;
        await(put, kBin * (kMost + 1));
        throw std::runtime_error("no memory");
      };
      bins.put(w, {KnownNumber(0), 1}, fail);
      try {
        bins.finish(w, fail);
      } catch (const std::runtime_error&) {
        failed = true;
      }
    } else {
      await(gathering, 1);
      const auto count = [&](const Offer<std::uint64_t>&) { ++gathered; };
      for (std::size_t i = 0; i < 2 * kBin * (kMost + 1); ++i, ++put) bins.put(w, {KnownNumber(0), 1}, count);
      bins.finish(w, count);
    }
  });
  CHECK(failed);
  CHECK(gathered == 2 * kBin * (kMost + 1));
}

}  // namespace edgewire::detail
