#include "process/top_k.h"

#include <algorithm>
#include <random>

#include "bootstraps.h"
#include "transport_fixture.h"

namespace edgewire::process {
namespace {

/// What rank 0 gets; vertex v is kept by process v % processes.
std::vector<Candidate<double>> of_all(int processes, std::uint64_t count, const std::vector<double>& values,
                                      Order order = Order::value) {
  std::vector<Candidate<double>> found;
  const auto bootstraps = launch::bootstraps(processes);
  transport::parallel(processes, [&](int p) {
    const auto rank = static_cast<std::size_t>(p);
    TopK<double> mine(count, order);
    for (std::size_t v = rank; v < values.size(); v += static_cast<std::size_t>(processes))
      mine.add({values[v], v});
    auto all = top_k_of_all(*bootstraps[rank], count, mine.take(), order);
    transport::require(p == 0 || all.empty(), "another rank has a result");
    if (p == 0) found = std::move(all);
  });
  return found;
}

TEST_CASE("equal values are in the order of their vertices, also across processes" *
          doctest::test_suite("schedules")) {
  const std::vector<double> values{1, 3, 3, 0.5, 3, 1, -2};
  for (const int processes : {1, 2, 3}) {
    CAPTURE(processes);
    CHECK(of_all(processes, 0, values).empty());
    CHECK(of_all(processes, 1, values) == std::vector<Candidate<double>>{{3, 1}});
    CHECK(of_all(processes, 4, values) == std::vector<Candidate<double>>{{3, 1}, {3, 2}, {3, 4}, {1, 0}});
    CHECK(of_all(processes, 100, values) ==
          std::vector<Candidate<double>>{{3, 1}, {3, 2}, {3, 4}, {1, 0}, {1, 5}, {0.5, 3}, {-2, 6}});
    CHECK(of_all(processes, 3, {}).empty());
  }
}

TEST_CASE("by magnitude a value keeps its sign") {
  for (const int processes : {1, 3})
    CHECK(of_all(processes, 3, {1, -4, 4, 0, -2}, Order::magnitude) ==
          std::vector<Candidate<double>>{{-4, 1}, {4, 2}, {-2, 4}});
}

TEST_CASE("whole numbers are compared exactly, also where doubles are too short for them") {
  const std::vector<Candidate<std::uint64_t>> all{{(std::uint64_t{1} << 60) + 1, 0},
                                                  {(std::uint64_t{1} << 60) + 2, 1}};
  const auto alone = launch::bootstraps(1);
  TopK<std::uint64_t> highest(2);
  for (const auto& one : all) highest.add(one);
  CHECK(highest.take() == std::vector{all[1], all[0]});
  CHECK(top_k_of_all(*alone[0], 1, all) == std::vector{all[1]});
}

TEST_CASE("the highest are those that sorting all values gives") {
  std::minstd_rand random(7);
  std::vector<double> values(500);
  for (double& value : values) value = static_cast<double>(random() % 40);
  std::vector<Candidate<double>> sorted;
  for (std::size_t v = 0; v < values.size(); ++v) sorted.push_back({values[v], v});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Candidate<double>& a, const Candidate<double>& b) { return a.value > b.value; });
  for (const int processes : {1, 2, 3})
    for (const std::size_t count : {1, 5, 77, 499}) {
      const std::vector<Candidate<double>> first(sorted.begin(),
                                                 sorted.begin() + static_cast<std::ptrdiff_t>(count));
      CHECK(of_all(processes, count, values) == first);
    }
}

TEST_CASE("rank 0 says how many") {
  const auto bootstraps = launch::bootstraps(3);
  transport::parallel(3, [&](int p) {
    const auto rank = static_cast<std::size_t>(p);
    transport::require(count_of_rank_0(*bootstraps[rank], 10 + rank) == 10, "another count");
  });
}

}  // namespace
}  // namespace edgewire::process
