#include "bounds/load_simulation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "profile/balance.h"

using namespace edgewire::bounds;
using namespace edgewire::profile;

namespace {

/// The sum over both parts of the slowest resource of each.
double bound_of(const SimulatedMachine& m, double share) {
  const double sort_first = m.runs > 0 ? m.cores_sort_s : 0;
  const double sending = std::max(
      {m.disk_read_s + m.disk_spill_s * share, m.wire_s * share, m.cores_parse_s + sort_first * share});
  const double merging = std::max(m.disk_fetch_s + m.disk_write_s, m.cores_merge_s) * share;
  return sending + m.wire_ids_s + (m.runs > 0 ? 0 : m.cores_sort_s * share) + m.disk_again_s * share +
         merging;
}

SimulatedMachine machine_of(double disk, double wire, double cores, double runs) {
  SimulatedMachine m;
  m.disk_read_s = 0.4 * disk;
  m.disk_spill_s = runs > 0 ? 0.6 * disk : 0;
  m.wire_s = wire;
  m.cores_parse_s = 0.5 * cores;
  m.cores_sort_s = 0.5 * cores;
  m.runs = runs;
  m.buffers = 4;
  m.disk_fetch_s = runs > 0 ? 0.6 * disk : 0;
  m.disk_write_s = 0.3 * disk;
  m.cores_merge_s = 0.3 * cores;
  return m;
}

}  // namespace

TEST_CASE("without skew a simulated load takes as long as its busiest resource, whichever that is") {
  const std::array<std::array<double, 3>, 5> loads{
      {{100, 10, 10}, {10, 100, 10}, {10, 10, 100}, {100, 90, 20}, {30, 20, 100}}};
  for (const auto& load : loads)
    for (const int machines : {1, 2, 10, 100})
      for (const double runs : {0.0, 64.0, 1000.0}) {
        const double disk = load[0], wire = load[1], cores = load[2];
        CAPTURE(disk);
        CAPTURE(wire);
        CAPTURE(cores);
        CAPTURE(machines);
        CAPTURE(runs);
        const auto m = machine_of(disk, machines > 1 ? wire : 0, cores, runs);
        const std::vector<double> shares(static_cast<std::size_t>(machines), 1.0);
        const auto run = simulate(m, shares);
        CHECK(run.seconds >= bound_of(m, 1) * (1 - 1e-9));
        CHECK(run.seconds <= bound_of(m, 1) * 1.06);
        CHECK(std::max({run.disk, run.wire, run.cores}) <= 1 + 1e-9);
      }
}

TEST_CASE("a simulated load names the resource that it waits for") {
  const std::vector<double> shares(10, 1.0);
  CHECK(simulate(machine_of(100, 10, 10, 100), shares).limit == LoadLimit::disk);
  CHECK(simulate(machine_of(10, 100, 10, 100), shares).limit == LoadLimit::wire);
  CHECK(simulate(machine_of(10, 10, 100, 100), shares).limit == LoadLimit::cores);
}

TEST_CASE("all machines wait for the one that owns most") {
  const auto m = machine_of(20, 100, 20, 100);
  const auto even = simulate(m, shares_with_largest(1, 10)), skewed = simulate(m, shares_with_largest(2, 10));
  CHECK(skewed.seconds >= bound_of(m, 2));
  CHECK(skewed.sending_s == doctest::Approx(2 * even.sending_s).epsilon(0.05));
  CHECK(skewed.limit == LoadLimit::wire);
  // A machine with a smaller share takes nothing away.
  CHECK(simulate(m, shares_with_largest(0.5, 10)).seconds >= even.seconds);
}

TEST_CASE("records that stay in memory are sorted when all have come") {
  auto m = machine_of(100, 0, 0, 0);
  m.cores_sort_s = 50;
  CHECK(simulate(m, std::vector<double>(4, 1.0)).seconds == doctest::Approx(40 + 50 + 30).epsilon(0.03));
}

TEST_CASE("what is told of ids and merged before comes on top") {
  auto m = machine_of(100, 10, 10, 100);
  const std::vector<double> shares(4, 1.0);
  const double before = simulate(m, shares).seconds;
  m.wire_ids_s = 7;
  m.disk_again_s = 11;
  CHECK(simulate(m, shares).seconds == doctest::Approx(before + 18));
}

TEST_CASE("a thousand machines are simulated the same way each time") {
  std::vector<double> shares(1000);
  std::mt19937_64 random(3);
  for (double& share : shares) share = 0.9 + 0.2 * static_cast<double>(random() % 1000) / 1000;
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share *= 1000 / sum;
  const auto m = machine_of(100, 80, 60, 200);
  const auto run = simulate(m, shares);
  CHECK(run.seconds == simulate(m, shares).seconds);
  CHECK(run.seconds >= bound_of(m, *std::ranges::max_element(shares)));
  CHECK(run.seconds <= bound_of(m, *std::ranges::max_element(shares)) * 1.1);
}

TEST_CASE("shares of owners follow from sampled sources: sampling is not quite even, and a row is not cut") {
  std::vector<std::vector<std::uint64_t>> places(256);
  std::mt19937_64 random(5);
  for (auto& place : places)
    for (int i = 0; i < 100; ++i) place.push_back(random() % 1'000'000);
  const auto even = shares_of_sources(places, 10);
  CHECK(std::accumulate(even.begin(), even.end(), 0.0) == doctest::Approx(10));
  CHECK(*std::ranges::max_element(even) > 1);
  CHECK(*std::ranges::max_element(even) < 1.15);
  // Sampling noise grows with the machines: 26 samples for each of 1000.
  const auto many = shares_of_sources(places, 1000);
  CHECK(*std::ranges::max_element(many) > 1.3);
  for (auto& place : places)
    for (std::size_t i = 0; i < 50; ++i) place[i] = 77;  // half of all edges
  const auto hub = shares_of_sources(places, 10);
  CHECK(*std::ranges::max_element(hub) >= 5);
  CHECK(std::accumulate(hub.begin(), hub.end(), 0.0) == doctest::Approx(10));
  CHECK(shares_of_sources(places, 1) == std::vector<double>{1.0});
  CHECK(shares_of_sources({}, 3) == std::vector<double>{1.0, 1.0, 1.0});
}

TEST_CASE("one share is the largest and all together are the whole") {
  const auto shares = shares_with_largest(1.9, 10);
  CHECK(shares[0] == 1.9);
  CHECK(shares[9] == doctest::Approx(0.9));
  CHECK(shares_with_largest(3, 1) == std::vector<double>{1.0});
}

TEST_CASE("samples of any length become intervals of equal length that hold the same in all") {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  // 0 to 1 s: 1; 1 to 1.5 s: 0; 1.5 to 4 s: 0.4.
  const std::vector<std::uint64_t> ends{10 * kSecond + kSecond, 10 * kSecond + kSecond * 3 / 2, 14 * kSecond};
  const auto two = in_intervals(ends, {1, 0, 0.4}, 10 * kSecond, 2, 2);
  REQUIRE(two.size() == 2);
  CHECK(two[0] == doctest::Approx((1 + 0.5 * 0.4) / 2));
  CHECK(two[1] == doctest::Approx(0.4));
  const auto eight = in_intervals(ends, {1, 0, 0.4}, 10 * kSecond, 0.5, 8);
  const std::vector<double> expected{1, 1, 0, 0.4, 0.4, 0.4, 0.4, 0.4};
  for (std::size_t i = 0; i < eight.size(); ++i) CHECK(eight[i] == doctest::Approx(expected[i]));
  CHECK(in_intervals({}, {}, 0, 1, 2) == std::vector<double>{0, 0});
}
